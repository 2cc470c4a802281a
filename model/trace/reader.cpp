// SPDX-License-Identifier: MIT
#include "model/trace/reader.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "model/foreign_file.hpp"
#include "model/trace/id_map.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/stored_payloads.hpp"
#include "model/trace/stored_samples.hpp"
#include "model/trace/stored_strings.hpp"
#include "model/trace/tables.hpp"
#include "model/trace/tallies.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::trace {
namespace {

using sqlite::Database;
using sqlite::Statement;
using tables::Rows;

constexpr std::string_view what_to_give =
    "Give a result directory with a trace.sqlite, or a database that `nsys export --type sqlite` made.";

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view why) {
  throw Error(ExitCode::usage, fmt::format("{}: {}. {}", file.string(), why, what_to_give));
}

/// SQLite itself takes an empty file for an empty database, and says of any other file that it is damaged.
void require_database(const std::filesystem::path& file) {
  constexpr std::string_view magic{"SQLite format 3\0", 16};
  try {
    require_readable(file, std::numeric_limits<std::int64_t>::max());
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}. {}", error.what(), what_to_give));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string head(magic.size(), ' ');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head == magic) return;
  if (const std::string is = what_it_is(file); !is.empty())
    throw Error(ExitCode::usage, fmt::format("{}: {}", file.string(), is));
  refuse(file, "this is no SQLite database");
}

/// The names in a schema that a pattern of LIKE fits, the first few.
std::vector<std::string> names_like(const Database& database, std::string_view type,
                                    std::string_view pattern) {
  std::vector<std::string> names;
  Statement rows = database.prepare(
      "SELECT name FROM sqlite_schema WHERE type = ? AND name LIKE ? ESCAPE '!' ORDER BY name LIMIT 4");
  rows.bind(type, pattern);
  while (rows.step()) names.push_back(rows.only_text());
  return names;
}

/// Tables that Nsight Systems writes whatever it traced.
bool is_of_nsight_systems(const Database& database) {
  return !names_like(database, "table", "META!_DATA!_%").empty() ||
         !names_like(database, "table", "TARGET!_INFO!_%").empty();
}

void require_trace(const Database& database, const std::filesystem::path& file) {
  for (const std::string_view table :
       {tables::kernels.name, tables::calls.name, tables::copies.name, tables::sets.name, tables::ranges.name,
        tables::system_calls.name, tables::graphs.name, tables::cases.name}) {
    if (database.has_table(table)) return;
  }
  const std::vector<std::string> views = names_like(database, "view", "CUPTI!_ACTIVITY!_KIND!_%");
  if (!views.empty()) {
    throw Error(
        ExitCode::usage,
        fmt::format("{0}: {1} is a view, and mprof runs no code of a file. Make tables of the views, as "
                    "with `CREATE TABLE copy.{1} AS SELECT * FROM {1}` in another database.",
                    file.string(), views.front()));
  }
  if (is_of_nsight_systems(database)) refuse_untraced(file);
  refuse(file, "this database has none of a trace's tables");
}

/// A case's share of the file.
struct Extent {
  CaseIndex in_case = no_case;
  std::set<std::int64_t> processes{};
  Interval window{};
  std::int64_t first_correlation = 0;
  std::int64_t last_correlation = 0;
};

/// Finds the case that a row belongs to. Rows of a case lie together, and cases in order, so that the last
/// answer holds, or the next one.
class Extents {
 public:
  void add(Extent extent) { extents_.push_back(std::move(extent)); }
  void add_process(CaseIndex in_case, std::int64_t process) {
    for (Extent& extent : extents_) {
      if (extent.in_case == in_case) extent.processes.insert(process);
    }
  }
  [[nodiscard]] bool empty() const { return extents_.empty(); }

  CaseIndex by_correlation(std::int64_t id) {
    return find([&](const Extent& e) { return e.first_correlation <= id && id <= e.last_correlation; });
  }
  CaseIndex by_time(std::int64_t process, std::int64_t start) {
    return find([&](const Extent& e) {
      return e.processes.contains(process) && e.window.start <= start && start <= e.window.end;
    });
  }
  /// As the operating system numbers it.
  [[nodiscard]] bool have_native_process(std::int64_t number) const {
    return std::ranges::any_of(extents_, [&](const Extent& extent) {
      return std::ranges::any_of(
          extent.processes, [&](std::int64_t process) { return nsys::native_process(process) == number; });
    });
  }
  [[nodiscard]] CaseIndex by_process(std::int64_t process) const {
    const auto found = std::ranges::find_if(
        extents_, [&](const Extent& extent) { return extent.processes.contains(process); });
    return found == extents_.end() ? no_case : found->in_case;
  }

 private:
  template <class Holds>
  CaseIndex find(const Holds& holds) {
    for (const std::size_t likely : {last_, last_ + 1}) {
      if (likely >= extents_.size() || !holds(extents_[likely])) continue;
      last_ = likely;
      return extents_[likely].in_case;
    }
    const auto found = std::ranges::find_if(extents_, holds);
    if (found == extents_.end()) return no_case;
    last_ = static_cast<std::size_t>(found - extents_.begin());
    return found->in_case;
  }

  std::vector<Extent> extents_;
  std::size_t last_ = 0;
};

}  // namespace

/// The places of all that has a correlation id, as the file attributes it.
class Places {
 public:
  void read(const Database& database) {
    if (is_read_) return;
    is_read_ = true;
    Trace found;
    tables::StoredStrings strings(database, found.names);
    Rows<tables::Attribution> rows(database, tables::attribution, strings);
    Place last;
    PlaceIndex index = nowhere;
    while (auto row = rows.next()) {
      rows.finish(*row);
      if (row->place != last) index = found.index_of(row->place);
      last = row->place;
      places_(0, row->correlation) = index;
    }
    all_ = std::move(found.places);
  }

  [[nodiscard]] const std::vector<Place>& all() const { return all_; }

  [[nodiscard]] PlaceIndex of(std::int64_t correlation) { return places_.find(0, correlation); }

 private:
  bool is_read_ = false;
  std::vector<Place> all_{Place{}};
  IdMap places_;  ///< ids are unique in the file; nowhere is 0
};

namespace {

/// Of rows that have no place, those that begin in a pause of their case.
template <class Row>
void erase_begun_in(const std::vector<Pause>& all, std::vector<Row>& rows) {
  if (all.empty()) return;
  std::erase_if(rows, [&](const Row& row) {
    const std::span<const Pause> pauses = of_case(all, row.in_case);
    const auto next = std::ranges::upper_bound(pauses, row.time.start, {},
                                               [](const Pause& pause) { return pause.time.start; });
    return next != pauses.begin() && row.time.start < std::prev(next)->time.end;
  });
}

class Reader {
 public:
  Reader(const Database& database, const Query& query, Places& places)
      : database_(database), query_(query), strings_(database, trace_.names), places_(places) {
    trace_.places = places.all();
    read_start();
    read_origin();
    read_cases();
    read_processes();
    read_gpus();
    read_contexts();
    find_unread_tables();
    trace_.transfer_labels = labels(nsys::copy_kinds);
    trace_.memory_labels = labels(nsys::memory_kinds);
  }

  Trace read_calls(const std::function<void(const Trace&, const Call&)>& visit) {
    each_wanted(
        tables::calls, [&](const Call& call) { return by_correlation(call.correlation); },
        [&](Call& call, const Home& home) {
          call.in_case = home.in_case;
          call.place = home.place;
          call.stack = no_stack;
          visit(trace_, call);
        });
    return std::move(trace_);
  }

  Trace read() {
    const Parts& parts = query_.parts;
    if (parts.stacks) read_stacks();
    if (parts.kernels) read_kernels();
    if (parts.kernels) read_correlated(tables::graphs, trace_.graphs);
    if (parts.graph_nodes) read_graph_nodes();
    if (parts.transfers) read_correlated(tables::copies, trace_.transfers);
    if (parts.transfers) read_sets();
    if (parts.calls)
      read_correlated(tables::calls, trace_.calls, [&](Call& call) { call.stack = stack_of(call.stack); });
    if (parts.system_calls) read_system_calls();
    const bool is_cut_by_pauses = parts.system_calls || parts.overheads;
    if (parts.ranges || is_cut_by_pauses) read_own_ranges();
    if (!parts.ranges) trace_.ranges.clear();
    if (parts.ranges) read_ranges();
    if (parts.synchronizations) read_synchronizations();
    if (parts.overheads) read_overheads();
    if (parts.allocations) read_correlated(tables::allocations, trace_.allocations);
    if (parts.gpu_samples) read_gpu_samples();
    if (parts.tallies) read_stored_tallies();
    std::ranges::stable_sort(trace_.pauses, {},
                             [](const Pause& pause) { return std::pair(pause.in_case, pause.time.start); });
    if (!query_.with_pauses) erase_begun_in(trace_.pauses, trace_.system_calls);
    if (!query_.with_pauses) erase_begun_in(trace_.pauses, trace_.overheads);
    bring_cases_together(trace_.kernels);
    bring_cases_together(trace_.graphs);
    bring_cases_together(trace_.graph_nodes);
    bring_cases_together(trace_.transfers);
    bring_cases_together(trace_.calls);
    bring_cases_together(trace_.system_calls);
    bring_cases_together(trace_.ranges);
    bring_cases_together(trace_.synchronizations);
    bring_cases_together(trace_.overheads);
    bring_cases_together(trace_.allocations);
    bring_cases_together(trace_.gpu_samples);
    bring_cases_together(trace_.tallies);
    return std::move(trace_);
  }

 private:
  /// The case and the place of a row that is wanted.
  struct Home {
    CaseIndex in_case = no_case;
    PlaceIndex place = nowhere;
  };

  template <class Row>
  static void bring_cases_together(std::vector<Row>& rows) {
    if (!std::ranges::is_sorted(rows, {}, &Row::in_case)) std::ranges::stable_sort(rows, {}, &Row::in_case);
  }

  [[nodiscard]] bool all_cases() const { return query_.cases.empty(); }
  [[nodiscard]] bool is_wanted(const Home& home) const {
    if (home.in_case == no_case && !all_cases()) return false;
    return query_.with_pauses || trace_.places[home.place].part != part::pause;
  }

  /// Calls visit(row) for each row of a table, as the file has them.
  template <class Row, class Visit>
  void each(const tables::Table<Row>& table, const Visit& visit, std::string_view condition = {}) {
    Rows<Row> rows(database_, table, strings_, condition);
    while (auto row = rows.next()) {
      rows.finish(*row);
      visit(*row);
    }
  }

  /// Calls visit(row, home) for each row of a table that is wanted. home_of(row) sees its keys alone;
  /// nullopt: it is not wanted anyhow.
  template <class Row, class HomeOf, class Visit>
  void each_wanted(const tables::Table<Row>& table, const HomeOf& home_of, const Visit& visit) {
    // A kernel's are many; the others' are their stacks.
    constexpr bool is_kernel = std::is_same_v<Row, Kernel>;
    const bool has_details = is_kernel ? query_.parts.kernel_details : !stacks_.empty();
    const tables::Detail detail = has_details ? tables::Detail::read : tables::Detail::left_out;
    Rows<Row> rows(database_, table, strings_, {}, {}, detail);
    while (auto row = rows.next()) {
      const std::optional<Home> home = home_of(*row);
      if (!home || !is_wanted(*home)) continue;
      rows.finish(*row);
      visit(*row, *home);
    }
  }

  [[nodiscard]] Home by_correlation(std::int64_t id) { return {extents_.by_correlation(id), places_.of(id)}; }
  [[nodiscard]] Home by_time(std::int64_t thread, std::int64_t start) {
    return {extents_.by_time(nsys::process_of(thread), start), nowhere};
  }

  /// The rows of a table that knows them by a correlation id, as rows of the trace.
  template <class Row, class Into, class Finish>
  void read_correlated(const tables::Table<Row>& table, Into& into, const Finish& finish) {
    make_room(table.name, into);
    each_wanted(
        table, [&](const Row& row) { return by_correlation(row.correlation); },
        [&](Row& row, const Home& home) {
          row.in_case = home.in_case;
          row.place = home.place;
          number_device(row);
          finish(row);
          into.push_back(row);
        });
  }
  template <class Row, class Into>
  void read_correlated(const tables::Table<Row>& table, Into& into) {
    read_correlated(table, into, [](Row&) {});
  }

  /// For the rows of a table, so that none is copied to make room: that takes up to three times as much.
  /// Memory that is never written to is not used.
  template <class Into>
  void make_room(std::string_view table, Into& into) const {
    if (!all_cases() || !database_.has_table(table)) return;
    const auto rows = database_.number(fmt::format(
        "SELECT (SELECT max(rowid) FROM main.{0}) - (SELECT min(rowid) FROM main.{0}) + 1", table));
    into.reserve(into.size() + database_.most_rows(rows.value_or(0)));
  }

  void read_start() {
    Rows<tables::SessionStart> rows(database_, tables::session_start, strings_);
    if (auto start = rows.next()) {
      rows.finish(*start);
      trace_.epoch = start->utc;
    }
  }

  /// What the file says of itself, and of the machine.
  void read_origin() {
    std::map<std::string, std::string> facts;
    each(tables::metadata, [&](const tables::Fact& fact) { facts[fact.name] = fact.value; });
    trace_.schema_version = facts["EXPORT_SCHEMA_VERSION"];
    trace_.product = facts["EXPORT_PRODUCT_VERSION"];
    const std::string& name = facts["EXPORT_PRODUCT_NAME"];
    if (!name.empty() && !trace_.product.starts_with(name))
      trace_.product = fmt::format("{} {}", name, trace_.product);
    each(tables::system, [&](const tables::SystemFact& fact) { trace_.system[fact.name] = fact.value; });
  }

  void read_processes() {
    each(tables::case_processes, [&](const tables::CaseProcess& row) {
      const auto found = cases_by_id_.find(row.in_case);
      if (found != cases_by_id_.end()) extents_.add_process(found->second, row.process);
    });
    each(tables::processes, [&](ProcessInfo& process) {
      process.in_case = extents_.by_process(process.id);
      trace_.processes.push_back(std::move(process));
    });
    each(tables::threads, [&](ThreadInfo& thread) { trace_.threads.push_back(std::move(thread)); });
  }

  void read_cases() {
    const std::unordered_set<std::string> chosen(query_.cases.begin(), query_.cases.end());
    each(tables::cases, [&](tables::CaseRow& row) {
      CaseInfo& one = row.of;
      if (!all_cases() && !chosen.contains(one.id)) return;
      const auto index = static_cast<CaseIndex>(trace_.cases.size());
      extents_.add({index, {one.process}, one.window, row.first_correlation, row.last_correlation});
      cases_by_id_[row.number] = index;
      trace_.cases.push_back(std::move(one));
    });
  }

  void read_gpus() {
    each(tables::gpus, [&](Gpu& gpu) {
      if (gpu.chip.empty()) gpu.chip = nsys::chip_of(gpu.compute_major, gpu.compute_minor);
      trace_.gpus.push_back(std::move(gpu));
    });
    number_devices(devices_of_processes());
  }

  /// Of the cases that are wanted.
  std::vector<tables::DeviceRow> devices_of_processes() {
    std::vector<tables::DeviceRow> devices;
    each(tables::devices, [&](tables::DeviceRow& device) {
      device.uuid = std::string(nsys::bare_uuid(device.uuid));
      if (!device.uuid.empty()) uuids_[device.gpu] = device.uuid;
      const bool is_wanted = all_cases() || extents_.have_native_process(device.process);
      if (is_wanted && !device.uuid.empty()) devices.push_back(std::move(device));
    });
    std::ranges::sort(devices, {}, [](const tables::DeviceRow& device) {
      return std::tuple(device.process, device.device, std::string_view(device.uuid));
    });
    return devices;
  }

  /// Processes may call different GPUs by one number, as where each sees one alone. In a trace each GPU has a
  /// number of its own.
  void number_devices(const std::vector<tables::DeviceRow>& devices) {
    if (devices.empty()) return;
    std::vector<Gpu> gpus;
    std::set<std::uint32_t> taken;
    for (const tables::DeviceRow& device : devices) {
      const auto is_it = [&](const Gpu& gpu) { return nsys::bare_uuid(gpu.uuid) == device.uuid; };
      auto known = std::ranges::find_if(gpus, is_it);
      if (known == gpus.end()) {
        const auto in_file = std::ranges::find_if(trace_.gpus, is_it);
        Gpu gpu = in_file != trace_.gpus.end() ? *in_file : like_the_one_called(device);
        gpu.id = device.device;
        while (!taken.insert(gpu.id).second) ++gpu.id;
        known = gpus.insert(gpus.end(), std::move(gpu));
      }
      numbers_[{device.process, device.device}] = known->id;
    }
    for (Gpu& gpu : trace_.gpus) {
      const bool is_used =
          std::ranges::any_of(gpus, [&](const Gpu& other) { return other.uuid == gpu.uuid; });
      if (is_used || !all_cases()) continue;
      while (!taken.insert(gpu.id).second) ++gpu.id;
      gpus.push_back(std::move(gpu));
    }
    std::ranges::sort(gpus, {}, &Gpu::id);
    trace_.gpus = std::move(gpus);
  }

  /// Merged runs of earlier versions describe one GPU for each number: the others were alike.
  [[nodiscard]] Gpu like_the_one_called(const tables::DeviceRow& device) const {
    Gpu gpu;
    const auto called = std::ranges::find(trace_.gpus, device.device, &Gpu::id);
    if (called != trace_.gpus.end()) gpu = *called;
    gpu.uuid = device.uuid;
    gpu.bus_location.clear();
    return gpu;
  }

  template <class Row>
  void number_device(Row& row) const {
    if constexpr (requires { row.queue; }) {
      const std::int64_t process = nsys::native_process(row.process);
      const bool is_green = green_contexts_.contains({process, row.queue.context});
      if (is_green && row.queue.green_context == 0) row.queue.green_context = row.queue.context;
      const auto found = numbers_.find({process, row.queue.device});
      if (found != numbers_.end()) row.queue.device = found->second;
    }
  }

  void read_contexts() {
    each(tables::contexts, [&](tables::ContextRow& row) {
      if (!all_cases() && !extents_.have_native_process(row.process)) return;
      if (row.of.is_green) green_contexts_.emplace(row.process, row.of.id);
      const auto device = numbers_.find({row.process, row.of.device});
      if (device != numbers_.end()) row.of.device = device->second;
      row.of.process = nsys::global_process(static_cast<std::uint32_t>(row.process));
      trace_.contexts.push_back(row.of);
    });
  }

  /// A newer version of Nsight Systems may give a table another name when its columns mean other things.
  void find_unread_tables() {
    for (const std::string_view table :
         {tables::kernels.name, tables::calls.name, tables::copies.name, tables::sets.name,
          tables::ranges.name, tables::synchronizations.name, tables::graphs.name}) {
      Statement others = database_.prepare(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ? AND name NOT GLOB "
          "'*[^A-Z0-9_]*' "
          "ORDER BY name LIMIT 4");
      others.bind(fmt::format("{}_V[0-9]*", table));
      while (others.step()) {
        const std::string name = others.only_text();
        if (database_.number(fmt::format("SELECT 1 FROM main.{} LIMIT 1", name)))
          trace_.unread_tables.push_back(name);
      }
    }
  }

  void read_kernels() {
    read_correlated(tables::kernels, trace_.kernels, [](Kernel& kernel) {
      if (kernel.name == 0) kernel.name = kernel.short_name != 0 ? kernel.short_name : kernel.mangled;
    });
  }

  /// The numbers of an enumeration as the file names them: a newer nsys may know more.
  [[nodiscard]] std::unordered_map<std::uint8_t, std::string> labels(const nsys::Enumeration& known) {
    std::unordered_map<std::uint8_t, std::string> all;
    each(tables::labels(known), [&](const tables::Label& row) {
      if (std::in_range<std::uint8_t>(row.number)) all[static_cast<std::uint8_t>(row.number)] = row.label;
    });
    return all;
  }

  void read_sets() {
    read_correlated(tables::sets, trace_.transfers,
                    [](Transfer& transfer) { transfer.kind = TransferKind::set; });
  }

  void read_system_calls() {
    each_wanted(
        tables::system_calls,
        [&](const tables::SystemCallRow& row) -> std::optional<Home> {
          // Others, such as calls of MPI, are no calls of the operating system.
          if (row.event_class != nsys::system_call_class) return std::nullopt;
          return by_time(row.of.thread, row.of.time.start);
        },
        [&](tables::SystemCallRow& row, const Home& home) {
          row.of.in_case = home.in_case;
          trace_.system_calls.push_back(row.of);
        });
  }

  /// In mprof's own file the number of a case's metrics says which case it is.
  void read_gpu_samples() {
    StoredSamples stored;
    each(tables::gpu_metric_names, [&](const tables::MetricName& row) { stored.name(row); });
    each(tables::gpu_metrics, [&](const tables::TalliedRow& row) { stored.add(row); });
    for (auto& [list, samples] : stored.take()) {
      Home home;
      if (!extents_.empty()) {
        const auto found = cases_by_id_.find(list / nsys::gpus_of_a_case);
        if (found == cases_by_id_.end()) continue;
        home.in_case = found->second;
      }
      if (!is_wanted(home)) continue;
      samples.in_case = home.in_case;
      samples.device = number_of_row(samples.device);
      trace_.gpu_samples.push_back(std::move(samples));
    }
  }

  /// Of a row of TARGET_INFO_GPU, as the trace numbers it.
  [[nodiscard]] std::uint32_t number_of_row(std::uint32_t row) const {
    const auto uuid = uuids_.find(row);
    if (uuid == uuids_.end()) return row;
    const auto gpu = std::ranges::find(trace_.gpus, uuid->second,
                                       [](const Gpu& one) { return nsys::bare_uuid(one.uuid); });
    return gpu == trace_.gpus.end() ? row : gpu->id;
  }

  /// Those of mprof's own file, which an import wrote.
  void read_stored_tallies() {
    each(tables::tallies, [&](tables::TallyRow& row) {
      const auto found = cases_by_id_.find(row.in_case);
      if (found == cases_by_id_.end() || !kind_of(row.kind, row.of.kind)) return;
      row.of.in_case = found->second;
      trace_.tallies.push_back(std::move(row.of));
    });
  }

  void read_synchronizations() {
    each_wanted(
        tables::synchronizations,
        [&](const tables::SynchronizationRow& row) { return by_correlation(row.of.correlation); },
        [&](tables::SynchronizationRow& row, const Home& home) {
          row.of.in_case = home.in_case;
          row.of.place = home.place;
          trace_.synchronizations.push_back(row.of);
        });
  }

  /// An export of Nsight Systems has no cases, and what its own injection did from the process's start.
  void read_graph_nodes() {
    each_wanted(
        tables::graph_nodes, [&](const GraphNode& row) { return by_time(row.thread, row.time.start); },
        [&](GraphNode& node, const Home& home) {
          node.in_case = home.in_case;
          node.stack = stack_of(node.stack);
          trace_.graph_nodes.push_back(node);
        });
  }

  /// A file that was written from an export may have the frames of a stack apart.
  void read_stacks() {
    std::map<std::int64_t, std::map<std::int64_t, StackFrame>> stacks;
    each(tables::stacks, [&](const tables::StackRow& row) {
      StackFrame frame = row.of;
      if (frame.address == 0 && frame.module == frame.file) frame.module = 0;  // of Python
      stacks[row.id].emplace(row.depth, frame);
    });
    for (const auto& [id, by_depth] : stacks) {
      std::vector<StackFrame> frames;
      for (const auto& [depth, frame] : by_depth) frames.push_back(frame);
      stacks_[id] = trace_.stacks.index(frames);
    }
  }

  /// Of the file's id.
  [[nodiscard]] StackIndex stack_of(std::int64_t id) const {
    const auto found = stacks_.find(id);
    return found == stacks_.end() ? no_stack : found->second;
  }

  void read_overheads() {
    const auto add = [&](Overhead& overhead, const Home& home) {
      overhead.in_case = home.in_case;
      trace_.overheads.push_back(overhead);
    };
    each_wanted(
        tables::overheads,
        [&](const Overhead& row) {
          return Home{extents_.by_correlation(row.correlation), nowhere};
        },
        add);
    each_wanted(
        tables::profiler_overheads, [&](const Overhead& row) { return by_time(row.thread, row.time.start); },
        add);
  }

  /// mprof's own ranges of its own cases, from the table that knows their places.
  void read_own_ranges() {
    const NameIndex domain = trace_.names.index(own_domain);
    each(tables::own_ranges, [&](const tables::OwnRange& row) {
      const auto found = cases_by_id_.find(row.in_case);
      if (found == cases_by_id_.end()) return;
      const Home home{found->second, trace_.index_of(row.place)};
      if (row.place.part == part::pause) trace_.pauses.push_back({row.time, home.in_case});
      if (!is_wanted(home)) return;
      trace_.ranges.push_back({.time = row.time,
                               .thread = row.thread,
                               .end_thread = row.thread,
                               .name = range_name(own_domain, row.name),
                               .domain = domain,
                               .in_case = home.in_case,
                               .style = row.is_extent ? RangeStyle::extent : RangeStyle::push_pop,
                               .place = home.place,
                               .id = row.id});
    });
  }

  NameIndex range_name(std::string_view domain, std::string_view text) {
    return trace_.names.index(fmt::format("{}:{}", domain, text));
  }

  std::string text_of(const tables::NvtxEvent& event) {
    if (event.text) return *event.text;
    return event.string ? strings_.text(*event.string) : std::string();
  }

  /// As JSON; 0: it has none.
  NameIndex payload_of(const tables::NvtxEvent& event) {
    if (!payloads_) payloads_.emplace(database_, strings_);
    return trace_.names.index(payloads_->json_of(event));
  }

  /// Domains are numbered within a process; trace.sqlite has each of them once.
  void read_domains() {
    each(
        tables::ranges,
        [&](const tables::NvtxEvent& event) {
          const std::string text = text_of(event);
          domains_.try_emplace({nsys::process_of(event.thread), event.domain}, text);
          if (!extents_.empty()) domains_.try_emplace({0, event.domain}, text);
        },
        fmt::format("eventType = {}", nsys::domain_created));
  }

  [[nodiscard]] std::string domain(std::int64_t process, std::int64_t id) const {
    auto found = domains_.find({process, id});
    if (found == domains_.end()) found = domains_.find({0, id});
    return found == domains_.end() ? std::string() : found->second;
  }

  /// All others. In a file that knows cases, mprof's own are there a second time.
  void read_ranges() {
    read_domains();
    each(
        tables::ranges,
        [&](const tables::NvtxEvent& event) {
          if (!event.end) {
            ++trace_.open_ranges;
            return;
          }
          const Home home = by_time(event.thread, event.start);
          const std::string in_domain = domain(nsys::process_of(event.thread), event.domain);
          const bool again = home.in_case != no_case && in_domain == own_domain;
          if (again || !is_wanted(home)) return;
          trace_.ranges.push_back(
              {.time = {event.start, *event.end},
               .thread = event.thread,
               .end_thread = event.end_thread.value_or(event.thread),
               .name = range_name(in_domain, text_of(event)),
               .domain = trace_.names.index(in_domain),
               .in_case = home.in_case,
               .style = event.type == nsys::push_pop_range ? RangeStyle::push_pop : RangeStyle::start_end,
               .payload = in_domain == nccl_domain ? payload_of(event) : 0,
               .row = extents_.empty() ? event.row : 0});
        },
        fmt::format("eventType IN ({}, {})", nsys::push_pop_range, nsys::start_end_range));
  }

  const Database& database_;
  const Query& query_;
  Trace trace_;
  tables::StoredStrings strings_;
  std::optional<tables::StoredPayloads> payloads_;  ///< once they are asked for
  Places& places_;
  Extents extents_;
  std::unordered_map<std::int64_t, CaseIndex> cases_by_id_;                  ///< by the file's own numbers
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> numbers_;  ///< of devices, by process
  std::set<std::pair<std::int64_t, std::uint32_t>> green_contexts_;          ///< by process
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains_;
  std::map<std::int64_t, StackIndex> stacks_;   ///< by the file's own numbers
  std::map<std::uint32_t, std::string> uuids_;  ///< of the rows of TARGET_INFO_GPU
};

}  // namespace

Parts& Parts::operator|=(const Parts& other) {
  kernels |= other.kernels;
  kernel_details |= other.kernel_details;
  transfers |= other.transfers;
  calls |= other.calls;
  system_calls |= other.system_calls;
  ranges |= other.ranges;
  synchronizations |= other.synchronizations;
  overheads |= other.overheads;
  allocations |= other.allocations;
  tallies |= other.tallies;
  graph_nodes |= other.graph_nodes;
  gpu_samples |= other.gpu_samples;
  stacks |= other.stacks;
  return *this;
}

void refuse_untraced(const std::filesystem::path& file) {
  throw Error(
      ExitCode::usage,
      fmt::format("{}: nothing was traced: there is no kernel, copy, call or range in it. Profile the "
                  "program again with `nsys profile --trace cuda,nvtx`.",
                  file.string()));
}

struct TraceFile::Opened {
  std::filesystem::path file;
  Query query;
  Places places{};

  /// Throws when one that is asked for is not there.
  void require_cases(const Trace& trace) const {
    const auto known = case_indices(trace);
    for (const std::string& id : query.cases) {
      if (!known.contains(id)) refuse(file, fmt::format("there is no case {} in it", id));
    }
  }
};

TraceFile::TraceFile(const std::filesystem::path& file, Query query) {
  require_database(file);
  require_trace(Database(file, sqlite::Mode::read), file);
  opened_ = std::make_unique<Opened>();
  opened_->file = file;
  opened_->query = std::move(query);
}

TraceFile::~TraceFile() = default;

Trace TraceFile::read(const Parts& parts) {
  Opened& of = *opened_;
  of.query.parts = parts;
  const Database database(of.file, sqlite::Mode::read);  // anew: what it may cost is limited
  const bool have_places =
      parts.kernels || parts.transfers || parts.calls || parts.synchronizations || parts.allocations;
  if (have_places) of.places.read(database);
  Trace trace = Reader(database, of.query, of.places).read();
  if (parts.tallies && trace.cases.empty()) read_tallies(database, trace);
  of.require_cases(trace);
  return trace;
}

Trace TraceFile::read_calls(const std::function<void(const Trace&, const Call&)>& visit) {
  Opened& of = *opened_;
  of.query.parts = {.calls = true};
  const Database database(of.file, sqlite::Mode::read);
  of.places.read(database);
  Trace trace = Reader(database, of.query, of.places).read_calls(visit);
  of.require_cases(trace);
  return trace;
}

Trace read_trace(const std::filesystem::path& file, const Query& query) {
  return TraceFile(file, query).read(query.parts);
}

void leave_out_pauses(Trace& trace) {
  erase_begun_in(trace.pauses, trace.system_calls);
  erase_begun_in(trace.pauses, trace.overheads);
  const auto leave_out = [&](auto& rows) {
    std::erase_if(rows, [&](const auto& row) { return trace.places[row.place].part == part::pause; });
  };
  leave_out(trace.kernels.rows());
  leave_out(trace.graphs);
  leave_out(trace.transfers);
  leave_out(trace.calls);
  leave_out(trace.ranges);
  leave_out(trace.synchronizations);
  leave_out(trace.allocations);
}

std::vector<std::string> traced_cases(const std::filesystem::path& file) {
  std::vector<std::string> ids;
  for (const CaseInfo& one : read_trace(file, {.parts = {}}).cases) ids.push_back(one.id);
  return ids;
}

}  // namespace mprof::trace
