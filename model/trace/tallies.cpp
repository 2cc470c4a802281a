// SPDX-License-Identifier: MIT
#include "model/trace/tallies.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/enum_names.hpp"
#include "model/kernel_name.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/op_name.hpp"
#include "model/trace/open_ops.hpp"
#include "model/trace/stored_payloads.hpp"
#include "model/trace/stored_strings.hpp"
#include "model/trace/tables.hpp"

namespace mprof::trace {
namespace {

using sqlite::Database;
using sqlite::Statement;

constexpr EnumNames<TallyKind, 13> kinds{{{TallyKind::gpu_metrics, "gpu_metrics"},
                                          {TallyKind::unified_memory, "unified_memory"},
                                          {TallyKind::graphs, "graphs"},
                                          {TallyKind::nccl, "nccl"},
                                          {TallyKind::mpi, "mpi"},
                                          {TallyKind::ucx, "ucx"},
                                          {TallyKind::openmp, "openmp"},
                                          {TallyKind::openacc, "openacc"},
                                          {TallyKind::operating_system, "operating_system"},
                                          {TallyKind::kernel_calls, "kernel_calls"},
                                          {TallyKind::network, "network"},
                                          {TallyKind::storage, "storage"},
                                          {TallyKind::unread, "unread"}}};

constexpr std::string_view byte_unit = "B";

/// What is added to a sum.
struct Amount {
  std::optional<std::int64_t> time{};  ///< ns
  std::optional<double> amount{};
};

/// So many names and more of one table or kind are one row: a hostile file has millions.
constexpr std::size_t most_names = 10'000;
constexpr std::string_view other_names = "other names";

std::int64_t saturated(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

void add_to(Tally& tally, const Tally& more) {
  tally.count += more.count;
  tally.timed += more.timed;
  tally.time = saturated(tally.time, more.time);
  if (more.measured > 0) {
    tally.smallest = tally.measured == 0 ? more.smallest : std::min(tally.smallest, more.smallest);
    tally.largest = tally.measured == 0 ? more.largest : std::max(tally.largest, more.largest);
  }
  tally.amount += more.amount;
  tally.measured += more.measured;
}

void add_to(Tally& tally, const Amount& more) {
  const double amount = more.amount.value_or(0);
  add_to(tally, Tally{.count = 1,
                      .timed = more.time ? 1U : 0U,
                      .time = more.time.value_or(0),
                      .measured = more.amount ? 1U : 0U,
                      .amount = amount,
                      .smallest = amount,
                      .largest = amount});
}

/// A duration; one that ends before it begins is none.
std::optional<std::int64_t> duration(std::optional<std::int64_t> start, std::optional<std::int64_t> end) {
  if (!start || !end || *end < *start) return std::nullopt;
  std::int64_t length = 0;
  return __builtin_sub_overflow(*end, *start, &length) ? std::nullopt : std::optional(length);
}

/// Sums by what tells them apart.
class Sums {
 public:
  /// To what is like it, an amount.
  void add(const Tally& like, const Amount& amount) { add_to(sum_of(like), amount); }
  void add(const Tally& tally) { add_to(sum_of(tally), tally); }
  [[nodiscard]] std::vector<Tally> all() const {
    std::vector<Tally> tallies;
    for (const auto& [key, tally] : sums_) tallies.push_back(tally);
    return tallies;
  }

 private:
  using Key =
      std::tuple<CaseIndex, TallyKind, std::string, std::string, std::string, std::optional<std::uint32_t>>;
  Tally& sum_of(const Tally& like) {
    const Key key{like.in_case, like.kind, like.op, like.name, like.unit, like.device};
    if (const auto known = sums_.find(key); known != sums_.end()) return known->second;
    const bool is_one_too_many = sums_.size() >= most_names;
    Tally sum{.kind = like.kind, .in_case = like.in_case};
    if (is_one_too_many) {
      sum.name = other_names;
    } else {
      sum.op = like.op;
      sum.name = like.name;
      sum.unit = like.unit;
      sum.device = like.device;
    }
    return sums_.try_emplace({sum.in_case, sum.kind, sum.op, sum.name, sum.unit, sum.device}, sum)
        .first->second;
  }
  std::map<Key, Tally> sums_;
};

bool is_plain_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// Reads the tables of an export that are tallied.
class TallyReader {
 public:
  TallyReader(const Database& database, Trace& trace)
      : database_(database),
        trace_(trace),
        strings_(database, trace.names),
        in_case_(trace.cases.empty() ? no_case : 0),
        times_(op_times_of(trace, in_case_)),
        open_(times_) {
    for (const OpTime& one : times_) first_.try_emplace(one.op, &one);
  }

  void read() {
    read_dictionaries();
    for (const std::string& name : stored_tables()) {
      const auto known = std::ranges::find_if(tables::tallied(), [&](const tables::TalliedTable& table) {
        return table.name.ends_with('*') ? name.starts_with(table.name.substr(0, table.name.size() - 1))
                                         : name == table.name;
      });
      if (known == tables::tallied().end()) {
        look_at_other(name);
        continue;
      }
      const tables::Table<tables::TalliedRow> table{name, known->columns};
      read_table(*known, table);
      name_unknown_columns(name, table.heads());
    }
    read_nccl();
    for (Tally& tally : sums_.all()) trace_.tallies.push_back(std::move(tally));
  }

 private:
  /// Of a table, what its rows have in common: a row's tally by the numbers that tell it apart, and by its
  /// op.
  using RowKey =
      std::tuple<const OpTime*, NameIndex, std::int64_t, std::int64_t, std::optional<std::int64_t>>;

  [[nodiscard]] std::vector<std::string> stored_tables() const {
    std::vector<std::string> names;
    Statement rows = database_.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name");
    while (rows.step()) {
      if (const std::string name = rows.only_text(); is_plain_name(name) && !name.starts_with("sqlite_"))
        names.push_back(name);
    }
    return names;
  }

  template <class Row, class Visit>
  void each(const tables::Table<Row>& table, const Visit& visit, std::string_view condition = {}) {
    tables::Rows<Row> rows(database_, table, strings_, condition);
    while (auto row = rows.next()) {
      rows.finish(*row);
      visit(*row);
    }
  }

  void read_dictionaries() {
    const auto read = [&](const tables::Table<tables::MetricName>& table, TallyKind kind) {
      each(table, [&](const tables::MetricName& row) { metrics_[{kind, row.list, row.number}] = row; });
    };
    read(tables::gpu_metric_names, TallyKind::gpu_metrics);
    read(tables::network_metric_names, TallyKind::network);
    read(tables::storage_metric_names, TallyKind::storage);
    std::map<std::int64_t, std::string> names;
    each(tables::network_devices, [&](const tables::NetworkDevice& row) { names[row.device] = row.name; });
    each(tables::network_ids,
         [&](const tables::NetworkDevice& row) { network_devices_[row.global] = names[row.device]; });
    each(tables::devices, [&](const tables::DeviceRow& row) {
      const auto gpu = std::ranges::find(trace_.gpus, nsys::bare_uuid(row.uuid),
                                         [](const Gpu& one) { return nsys::bare_uuid(one.uuid); });
      if (!row.uuid.empty() && gpu != trace_.gpus.end()) gpus_[{row.process, row.device}] = gpu->id;
    });
    for (const nsys::EnumRow& row : nsys::fault_accesses.rows) accesses_[row.id] = row.label;
    each(tables::labels(nsys::fault_accesses),
         [&](const tables::Label& row) { accesses_[row.number] = row.label; });
  }

  void read_table(const tables::TalliedTable& kind, const tables::Table<tables::TalliedRow>& table) {
    std::map<RowKey, Tally> sums;
    Tally others{.kind = kind.kind, .name = std::string(other_names), .in_case = in_case_};
    each(table, [&](const tables::TalliedRow& row) {
      const OpTime* const op = op_of(row);
      const RowKey key{op, row.name, row.list, row.number, row.device};
      const Amount amount{duration(row.start, row.end), row.amount};
      auto known = sums.find(key);
      if (known == sums.end()) {
        if (sums.size() >= most_names) return add_to(others, amount);
        known = sums.emplace(key, described(kind, row, op)).first;
      }
      add_to(known->second, amount);
    });
    for (const auto& [key, tally] : sums) sums_.add(tally);  // two names may be one text
    if (others.count > 0) sums_.add(others);
  }

  /// The first execution of the op that a row belongs to.
  [[nodiscard]] const OpTime* op_of(const tables::TalliedRow& row) const {
    if (!row.start) return nullptr;
    const OpTime* const open = row.thread    ? open_.at(*row.thread, *row.start)
                               : row.process ? open_.at(*row.process, *row.start)
                                             : open_.at(*row.start);
    return open == nullptr ? nullptr : first_.at(open->op);
  }
  [[nodiscard]] std::string op_name(const OpTime* op) const {
    if (in_case_ == no_case) return {};
    return op == nullptr ? outside_of_ranges : op->op;
  }

  [[nodiscard]] Tally described(const tables::TalliedTable& kind, const tables::TalliedRow& row,
                                const OpTime* op) const {
    Tally tally{.kind = kind.kind, .op = op_name(op), .unit = std::string(kind.unit), .in_case = in_case_};
    tally.name = row.name != 0 ? trace_.names[row.name] : std::string(kind.label);
    const bool is_of_gpu = kind.kind == TallyKind::gpu_metrics || kind.kind == TallyKind::unified_memory;
    if (is_of_gpu && row.device && std::in_range<std::uint32_t>(*row.device))
      tally.device = number_of_gpu(row, static_cast<std::uint32_t>(*row.device));
    if (kind.kind == TallyKind::unified_memory) {
      const auto access = accesses_.find(row.number);
      if (row.device && access != accesses_.end()) tally.name += fmt::format(", {}", access->second);
    } else if (tally.name.empty()) {
      describe_metric(tally, row);
    }
    return tally;
  }

  /// As the trace numbers it: processes may call different GPUs by one number.
  [[nodiscard]] std::uint32_t number_of_gpu(const tables::TalliedRow& row, std::uint32_t device) const {
    if (!row.process) return device;
    const auto number = gpus_.find({nsys::native_process(*row.process), device});
    return number == gpus_.end() ? device : number->second;
  }

  void describe_metric(Tally& tally, const tables::TalliedRow& row) const {
    const auto metric = metrics_.find({tally.kind, row.list, row.number});
    const bool known = metric != metrics_.end() && !metric->second.name.empty();
    tally.name = known ? metric->second.name : fmt::format("metric {}", row.number);
    if (known) tally.unit = metric->second.unit;
    if (tally.kind != TallyKind::network || !row.device) return;
    const auto device = network_devices_.find(*row.device);
    tally.name += device != network_devices_.end() && !device->second.empty()
                      ? fmt::format(" ({})", device->second)
                      : fmt::format(" (device {})", *row.device);
  }

  // --- NCCL's ranges, with the sizes that they carry ---

  void read_nccl() {
    std::set<std::pair<std::int64_t, std::int64_t>> domains;
    each(
        tables::ranges,
        [&](const tables::NvtxEvent& row) {
          if (text_of(row) == "NCCL") domains.emplace(nsys::process_of(row.thread), row.domain);
        },
        fmt::format("eventType = {}", nsys::domain_created));
    if (domains.empty()) return;
    each(
        tables::ranges,
        [&](const tables::NvtxEvent& row) {
          if (!domains.contains({nsys::process_of(row.thread), row.domain})) return;
          const Tally like{.kind = TallyKind::nccl,
                           .op = op_name(open_.at(row.thread, row.start)),
                           .name = text_of(row),
                           .unit = std::string(byte_unit),
                           .in_case = in_case_};
          sums_.add(like, {duration(row.start, row.end), message_size(row)});
        },
        fmt::format("eventType IN ({}, {})", nsys::push_pop_range, nsys::start_end_range));
  }

  std::string text_of(const tables::NvtxEvent& row) {
    if (row.text) return *row.text;
    return row.string ? strings_.text(*row.string) : std::string();
  }

  std::optional<double> message_size(const tables::NvtxEvent& row) {
    if (!row.payload_string) return size_in(payloads_.json_of(row));
    const auto [entry, is_new] = sizes_.try_emplace(*row.payload_string);
    if (is_new) entry->second = size_in(strings_.text(*row.payload_string));
    return entry->second;
  }

  /// The number that is called a size in bytes, as "Message size [bytes]". NCCL's payloads have some hundred
  /// bytes.
  static std::optional<double> size_in(const std::string& text) {
    constexpr std::size_t longest = 4096;
    if (text.size() > longest) return std::nullopt;
    const nlohmann::json payload = nlohmann::json::parse(text, nullptr, false);
    if (!payload.is_object()) return std::nullopt;
    for (const auto& [key, value] : payload.items()) {
      std::string lower;
      for (const char c : key) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const bool is_size = lower.find("size") != lower.npos && lower.find("byte") != lower.npos;
      if (is_size && value.is_number()) return value.get<double>();
    }
    return std::nullopt;
  }

  // --- What is not read, by name ---

  /// A table of which nothing is known: whether it tells of something that happened.
  void look_at_other(const std::string& name) {
    const std::vector<tables::TableHead> known = tables::all();
    const auto found = std::ranges::find(known, name, &tables::TableHead::name);
    if (found != known.end()) {
      name_unknown_columns(name, found->columns);
      return;
    }
    const std::vector<sqlite::StoredColumn> columns = database_.columns_of(name);
    const bool has_time = std::ranges::any_of(columns, [](const sqlite::StoredColumn& column) {
      return column.name == "start" || column.name == "timestamp";
    });
    const bool is_own = name == "DIAGNOSTIC_EVENT";  // what Nsight Systems says of itself
    if (has_time && !is_own) add_unread(name, fmt::format("SELECT count(*) FROM main.{}", name));
  }

  void name_unknown_columns(const std::string& table, std::span<const tables::ColumnHead> known) {
    for (const sqlite::StoredColumn& column : database_.columns_of(table)) {
      const bool is_known = std::ranges::find(known, column.name, &tables::ColumnHead::name) != known.end();
      if (!is_known && is_plain_name(column.name))
        add_unread(fmt::format("{}.{}", table, column.name),
                   fmt::format("SELECT count(\"{}\") FROM main.{}", column.name, table));
    }
  }

  void add_unread(std::string name, const std::string& counting) {
    const std::int64_t rows = database_.number(counting).value_or(0);
    if (rows > 0)
      trace_.tallies.push_back({.kind = TallyKind::unread,
                                .name = std::move(name),
                                .in_case = in_case_,
                                .count = static_cast<std::uint64_t>(rows)});
  }

  const Database& database_;
  Trace& trace_;
  tables::StoredStrings strings_;
  tables::StoredPayloads payloads_{database_, strings_};
  CaseIndex in_case_;
  std::vector<OpTime> times_;
  OpenOps open_;
  std::map<std::string_view, const OpTime*> first_;  ///< of each op
  Sums sums_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> gpus_;  ///< by process and its number there
  std::unordered_map<std::int64_t, std::optional<double>> sizes_;         ///< by the payload's string
  std::map<std::tuple<TallyKind, std::int64_t, std::int64_t>, tables::MetricName> metrics_;
  std::map<std::int64_t, std::string> network_devices_;  ///< by global id
  std::map<std::int64_t, std::string> accesses_;
};

// --- What a trace's own rows say in this form ---

/// Of more nodes than this, those with kernels of one name are one row.
constexpr std::size_t most_graph_nodes = 64;

void add_graphs(const Trace& trace, Sums& sums) {
  for (const GraphExecution& row : trace.graphs) {
    sums.add({.kind = TallyKind::graphs,
              .op = trace.places[row.place].op,
              .name = fmt::format("graph {} as a whole", row.graph),
              .in_case = row.in_case,
              .device = row.queue.device},
             {row.time.length(), std::nullopt});
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> nodes;
  for (const Kernel& row : trace.kernels) {
    if (row.graph_node != 0 && nodes.size() <= most_graph_nodes) nodes.emplace(row.graph, row.graph_node);
  }
  std::unordered_map<NameIndex, std::string> brief;
  for (const Kernel& row : trace.kernels) {
    if (row.graph_node == 0) continue;
    std::string& kernel = brief[row.name];
    if (kernel.empty()) kernel = kernel_name_of_demangled(trace.names[row.name]).brief;
    std::string name = row.graph != 0 ? fmt::format("graph {}, ", row.graph) : std::string();
    if (nodes.size() <= most_graph_nodes) name += fmt::format("node {}, ", row.graph_node);
    sums.add({.kind = TallyKind::graphs,
              .op = trace.places[row.place].op,
              .name = name + kernel,
              .in_case = row.in_case,
              .device = row.queue.device},
             {row.time.length(), std::nullopt});
  }
}

void add_migrations(const Trace& trace, Sums& sums) {
  for (const Transfer& row : trace.transfers) {
    if (!is_migration(row.kind)) continue;
    sums.add({.kind = TallyKind::unified_memory,
              .op = trace.places[row.place].op,
              .name = fmt::format("migrations, {}", trace.way(row.kind)),
              .unit = std::string(byte_unit),
              .in_case = row.in_case,
              .device = row.queue.device},
             {row.time.length(), static_cast<double>(row.bytes)});
  }
}

/// Of a case at a time: its ops are its own.
void add_system_calls(const Trace& trace, Sums& sums) {
  std::optional<CaseIndex> in_case;
  std::vector<OpTime> times;
  std::optional<OpenOps> open;
  for (const Call& call : trace.system_calls) {
    if (in_case != call.in_case) {
      in_case = call.in_case;
      times = op_times_of(trace, call.in_case);
      open.emplace(times);
    }
    const OpTime* const op = open->at(call.thread, call.time.start);
    sums.add({.kind = TallyKind::operating_system,
              .op = op != nullptr   ? op->op
                    : times.empty() ? ""
                                    : outside_of_ranges,
              .name = trace.names[call.name],
              .in_case = call.in_case},
             {call.time.length(), std::nullopt});
  }
}

}  // namespace

std::string_view word_of(TallyKind kind) {
  return name_of(kinds, kind);
}

bool kind_of(std::string_view word, TallyKind& kind) {
  return value_of(kinds, word, kind);
}

void read_tallies(const sqlite::Database& database, Trace& trace) {
  TallyReader(database, trace).read();
}

void read_tallies(const std::filesystem::path& file, Trace& trace) {
  read_tallies(Database(file, sqlite::Mode::read), trace);
}

void add_sample_tallies(Trace& trace) {
  const std::vector<OpTime> times = op_times_of(trace, 0);
  const OpenOps open(times);
  Sums sums;
  for (const GpuSamples& samples : trace.gpu_samples) {
    // Neighbours mostly share their op, so that each op is looked up once a time that it is open.
    for (std::size_t first = 0, last = 0; first < samples.times.size(); first = last) {
      const OpTime* const op = open.at(samples.times[first].start);
      while (last < samples.times.size() && open.at(samples.times[last].start) == op) ++last;
      for (const GpuCurve& curve : samples.curves) {
        Tally tally{.kind = TallyKind::gpu_metrics,
                    .op = op == nullptr ? outside_of_ranges : op->op,
                    .name = curve.name,
                    .in_case = samples.in_case,
                    .device = samples.device};
        for (std::size_t i = first; i < last; ++i) {
          if (!std::isnan(curve.values[i])) add_to(tally, Amount{.amount = double{curve.values[i]}});
        }
        if (tally.count > 0) sums.add(tally);
      }
    }
  }
  std::ranges::move(sums.all(), std::back_inserter(trace.tallies));
}

std::vector<Tally> tallies_of(const Trace& trace, std::optional<CaseIndex> only) {
  Sums sums;
  add_graphs(trace, sums);
  add_migrations(trace, sums);
  add_system_calls(trace, sums);
  for (const Tally& tally : trace.tallies) sums.add(tally);
  Sums wanted;
  for (Tally& tally : sums.all()) {
    if (only && tally.in_case != *only) continue;
    if (!only) tally.in_case = no_case;
    wanted.add(tally);
  }
  std::vector<Tally> all = wanted.all();
  std::ranges::stable_sort(all, {}, [](const Tally& one) {
    return std::tuple(one.kind, -one.time, -static_cast<std::int64_t>(one.count), std::string_view(one.name),
                      std::string_view(one.op));
  });
  return all;
}

}  // namespace mprof::trace
