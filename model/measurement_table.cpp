// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/json_archive.hpp"

/// The JSON of a pass's measurements. Counters are many for each kernel, so those of consecutive kernels make
/// one table, in which the names stand once:
///
///   {"kernels": {"op": ["rows", "columns"], "kernel": ["sum", "sum"]},
///    "columns": {"dram__bytes.sum": [1024.0, 2048.0], "dram__cycles.sum": [3.0, "it overflowed"]}}
///
/// A cell is the one sample of its kernel; a text is the reason why it is absent; null stands where nothing
/// was recorded. Everything else is a row, an object of its own. Tables and rows stand in the order of the
/// measurements, and a table is read kernel by kernel, column by column: reading gives exactly the
/// measurements that were written, in their order.
namespace mprof::json {
namespace {

/// One sample of one kernel, or the reason why there is none.
bool fits_a_cell(const Measurement& m) {
  const bool is_value = m.samples.size() == 1 && m.absent.empty();
  const bool is_absent = m.samples.empty() && !m.absent.empty();
  return !m.kernel.empty() && m.source == Source::measured && (is_value || is_absent);
}

/// Takes measurements as long as reading the table would give them back in this order.
class Table {
 public:
  /// False, and nothing taken, when the measurement does not continue the table.
  bool take(const Measurement& m) {
    const bool same_kernel =
        !kernels_.empty() && kernels_.back().first->op == m.op && kernels_.back().first->kernel == m.kernel;
    const auto column = columns_.find(m.metric.text());
    const bool is_new = column == columns_.end();
    if (is_new && !(kernels_.empty() || (kernels_.size() == 1 && same_kernel))) return false;
    const std::size_t at = is_new ? columns_.size() : column->second;
    if (!same_kernel || at < next_) kernels_.emplace_back(&m, std::vector<const Measurement*>{});
    if (is_new) columns_.emplace(m.metric.text(), at);
    auto& cells = kernels_.back().second;
    cells.resize(at, nullptr);
    cells.push_back(&m);
    next_ = at + 1;
    ++measurements_;
    return true;
  }

  /// Appends what was taken to a list of measurements.
  void write(Json& list) const {
    if (measurements_ == 1) list.push_back(json::to_json(*kernels_.front().first));
    if (measurements_ > 1) list.push_back(Json{{"kernels", kernels()}, {"columns", columns()}});
  }

 private:
  [[nodiscard]] Json kernels() const {
    Json op = Json::array();
    Json kernel = Json::array();
    for (const auto& [first, cells] : kernels_) {
      op.push_back(first->op);
      kernel.push_back(first->kernel);
    }
    return {{"op", std::move(op)}, {"kernel", std::move(kernel)}};
  }

  [[nodiscard]] Json columns() const {
    Json columns = Json::object();
    for (const Measurement* m : kernels_.front().second) columns[m->metric] = column(columns.size());
    return columns;
  }

  [[nodiscard]] Json column(std::size_t at) const {
    Json cells = Json::array();
    for (const auto& [first, of_kernel] : kernels_) cells.push_back(cell(of_kernel, at));
    return cells;
  }

  static Json cell(const std::vector<const Measurement*>& of_kernel, std::size_t at) {
    if (at >= of_kernel.size() || of_kernel[at] == nullptr) return nullptr;
    const Measurement& m = *of_kernel[at];
    return m.samples.empty() ? Json(m.absent) : json::to_json(m.samples.front());
  }

  /// The first measurement of each, which names it, and its cells by column.
  std::vector<std::pair<const Measurement*, std::vector<const Measurement*>>> kernels_;
  std::map<std::string_view, std::size_t> columns_;  ///< by metric; the first kernel has them all
  std::size_t next_ = 0;                             ///< the first column that the last kernel can still fill
  std::size_t measurements_ = 0;
};

std::vector<Name> names_of(const Value& kernels, const char* name, const Place& where) {
  std::vector<Name> names;
  Reader(kernels, where).field(name, names);
  return names;
}

/// A sample of its own on the heap.
constexpr std::size_t bytes_of_sample = 32;

void read_cell(const Value& cell, const Place& where, Measurement& m) {
  if (cell.is_text()) {
    read(cell, where, m.absent);
  } else if (cell.is_number()) {
    read(cell, where, m.samples.emplace_back());
  } else {
    fail(where, "a number, the reason of its absence, or null", cell);
  }
}

void require_cells(const Value& column, const Place& where, std::size_t kernels) {
  if (column.is_array() && column.size() == kernels) return;
  fail(where, fmt::format("{} cells, one a kernel", kernels), column);
}

Value member_of(const Value& table, const char* name, const Place& where) {
  const std::optional<Value> member = table.find(name);
  if (!member) throw Error(ExitCode::usage, where.text() + ": the field \"" + name + "\" is missing");
  return *member;
}

void read_table(const Value& table, const Place& where, std::vector<Measurement>& measurements) {
  const Value kernels = member_of(table, "kernels", where), columns = member_of(table, "columns", where);
  const std::vector<Name> ops = names_of(kernels, "op", where.member("kernels"));
  const std::vector<Name> names = names_of(kernels, "kernel", where.member("kernels"));
  if (ops.size() != names.size())
    fail(where.member("kernels").member("op"), fmt::format("{} names, one a kernel", names.size()),
         *kernels.find("op"));
  const Place here = where.member("columns");
  if (!columns.is_object()) fail(here, "an object", columns);
  std::vector<std::pair<Name, Value>> by_metric;  // each with the cell that is read next
  where.take(columns.size() * (sizeof(std::pair<Name, Value>) + bytes_of_name));
  by_metric.reserve(columns.size());
  std::size_t cells = 0;
  for (const auto& [metric, column] : columns.members()) {
    require_cells(column, here.member(metric), names.size());
    where.take(metric.size());
    by_metric.emplace_back(metric, column.inner());
    for (const Value& cell : column.elements()) cells += cell.is_null() ? 0 : 1;
  }
  where.take(cells * (sizeof(Measurement) + bytes_of_sample));
  if (const std::size_t size = measurements.size() + cells; size > measurements.capacity())
    measurements.reserve(std::max(size, measurements.size() * 3 / 2));
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (auto& [metric, next] : by_metric) {
      const Value cell = std::exchange(next, next.next());
      if (cell.is_null()) continue;
      Measurement& m = measurements.emplace_back();
      m.metric = metric;
      m.op = ops[i];
      m.kernel = names[i];
      read_cell(cell, here.member(metric.text()).element(i), m);
    }
  }
}

}  // namespace

Json to_json(const std::vector<Measurement>& measurements) {
  Json list = Json::array();
  Table table;
  const auto close = [&] { std::exchange(table, {}).write(list); };
  for (const Measurement& m : measurements) {
    if (!fits_a_cell(m)) {
      close();
      list.push_back(to_json(m));
    } else if (!table.take(m)) {
      close();
      table.take(m);
    }
  }
  close();
  return list;
}

void read(const Value& json, const Place& where, std::vector<Measurement>& measurements) {
  if (!json.is_array()) fail(where, "an array", json);
  measurements.clear();
  const std::size_t expected = json.size() + json.size() / 2;  // with what derive() adds
  where.take(expected * sizeof(Measurement));
  measurements.reserve(expected);
  std::size_t i = 0;
  for (const Value& element : json.elements()) {
    const Place here = where.element(i++);
    if (element.is_object() && element.find("columns")) {
      read_table(element, here, measurements);
    } else {
      read(element, here, measurements.emplace_back());
    }
  }
}

}  // namespace mprof::json
