// SPDX-License-Identifier: MIT
#include "inputs/torch_trace.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inputs/gzip.hpp"
#include "model/foreign_file.hpp"
#include "model/json_archive.hpp"
#include "model/trace/collectives.hpp"
#include "model/trace/nsys_schema.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace nsys = trace::nsys;
using trace::Size;

constexpr std::string_view torch_next_step =
    "Give what `prof.export_chrome_trace(\"trace.json\")` of torch.profiler wrote, with "
    "ProfilerActivity.CUDA among its activities.";

[[noreturn]] void refuse_torch(const std::string& name, std::string_view why) {
  throw Error(ExitCode::usage, fmt::format("{}: {}. {}", name, why, torch_next_step));
}

// --- Numbers ---

constexpr std::int64_t ns_of_us = 1000;
/// No clock shows more.
constexpr double latest_ns = 3e18;

/// Microseconds as they are printed, in ns: a double has too few digits for those since 1970.
std::optional<std::int64_t> nanoseconds_of(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::int64_t microseconds = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), microseconds);
  const bool is_plain =
      error == std::errc() && end == whole.data() + whole.size() && text.find_first_of("eE") == text.npos;
  if (!is_plain || std::abs(static_cast<double>(microseconds)) * ns_of_us > latest_ns) return std::nullopt;
  std::int64_t rest = 0;
  const std::string_view decimals = point == text.npos ? std::string_view() : text.substr(point + 1);
  for (std::size_t i = 0; i < 3; ++i) rest = 10 * rest + (i < decimals.size() ? decimals[i] - '0' : 0);
  if (decimals.size() > 3 && decimals[3] >= '5') ++rest;
  return microseconds * ns_of_us + (text.starts_with('-') ? -rest : rest);
}

std::optional<std::int64_t> nanoseconds_of(double microseconds) {
  const double ns = microseconds * static_cast<double>(ns_of_us);
  if (!std::isfinite(ns) || std::abs(ns) > latest_ns) return std::nullopt;
  return std::llround(ns);
}

/// A number as JSON has it.
struct TorchNumber {
  std::int64_t whole = 0;  ///< rounded to zero, and within its type
  double value = 0;
  std::optional<std::int64_t> nanoseconds{};  ///< were it microseconds
};

TorchNumber number_of(double value, std::string_view text) {
  constexpr double most = 9e18;
  TorchNumber number{.value = value};
  if (std::isfinite(value)) number.whole = static_cast<std::int64_t>(std::clamp(value, -most, most));
  number.nanoseconds = nanoseconds_of(text);
  if (!number.nanoseconds) number.nanoseconds = nanoseconds_of(value);
  return number;
}

// --- Events ---

/// An event of the file, as far as it is of use.
struct TorchEvent {
  std::string phase{}, category{}, name{}, process_name{};
  std::int64_t process = 0, thread = 0;
  std::optional<std::int64_t> start{}, length{};  ///< ns
  std::int64_t correlation = 0;
  std::uint64_t bytes = 0, graph = 0, graph_node = 0;
  std::uint32_t device = 0, context = 0, stream = 0;
  std::optional<std::uint32_t> registers{}, shared_memory{};
  std::vector<std::int64_t> grid{}, block{};
  // Of a collective.
  std::string collective{}, element{}, group{}, group_ranks{};
  std::uint64_t elements_in = 0, elements_out = 0;
  std::uint32_t group_size = 0;
};

/// Of an object of the list "deviceProperties".
using TorchProperties = std::map<std::string, TorchNumber, std::less<>>;

struct TorchFile {
  std::string schema{};
  std::int64_t base = 0;  ///< ns since 1970 at which the times begin; 0: the file does not say
  std::vector<trace::Gpu> gpus{};
  std::optional<std::uint32_t> rank{}, world_size{};
  bool has_events = false;
};

template <class Integer>
Integer within(const TorchNumber& number) {
  return std::in_range<Integer>(number.whole) ? static_cast<Integer>(number.whole) : Integer{0};
}

template <class Integer>
std::optional<Integer> known(const TorchNumber& number) {
  if (!std::in_range<Integer>(number.whole)) return std::nullopt;
  return static_cast<Integer>(number.whole);
}

/// Hands each event to `take` as it is read: a file has millions, and is no tree in memory.
template <class Take>
class TorchHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  TorchHandler(TorchFile& file, const Take& take) : file_(file), take_(take) {}

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value), value); }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto most = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    return number(static_cast<double>(value), static_cast<std::int64_t>(std::min(value, most)));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    take_number(number_of(value, text));
    return true;
  }
  bool string(string_t& value) override {
    take_text(value);
    return true;
  }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override {
    open();
    if (is_event()) event_ = {};
    if (is_device()) {
      device_ = {};
      device_name_.clear();
    }
    return true;
  }
  bool key(string_t& key) override {
    keys_.back() = key;
    return true;
  }
  bool end_object() override {
    if (is_event()) take_(std::as_const(event_));
    if (is_device()) add_device();
    close();
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    open();
    file_.has_events = file_.has_events || in_events();
    return true;
  }
  bool end_array() override {
    close();
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    error_at = position;
    return false;
  }

  std::optional<std::size_t> error_at{};

 private:
  void open() { keys_.emplace_back(); }
  void close() {
    if (!keys_.empty()) keys_.pop_back();
  }
  /// The key of the top object under which we are.
  [[nodiscard]] bool in_list(std::string_view list) const { return !keys_.empty() && keys_.front() == list; }
  [[nodiscard]] bool in_events() const { return in_list("traceEvents"); }
  /// Within an event itself: the top object, the list, the event.
  [[nodiscard]] bool is_event() const { return keys_.size() == 3 && in_events(); }
  [[nodiscard]] bool is_device() const { return keys_.size() == 3 && in_list("deviceProperties"); }
  [[nodiscard]] bool is_distributed() const { return keys_.size() == 2 && in_list("distributedInfo"); }
  [[nodiscard]] bool is_argument(std::size_t depth) const {
    return keys_.size() == depth && in_events() && keys_[2] == "args";
  }

  bool number(double value, std::int64_t whole) {
    TorchNumber one{.whole = whole, .value = value, .nanoseconds = nanoseconds_of(value)};
    if (std::abs(value) < latest_ns / ns_of_us) one.nanoseconds = whole * ns_of_us;
    take_number(one);
    return true;
  }

  void take_text(const std::string& text) {
    if (is_event()) {
      const std::string& key = keys_.back();
      if (key == "ph") event_.phase = text;
      if (key == "cat") event_.category = text;
      if (key == "name") event_.name = text;
    } else if (is_argument(4)) {
      if (keys_.back() == "name") event_.process_name = text;
      if (keys_.back() == "dtype") event_.element = text;
      if (keys_.back() == "Collective name") event_.collective = text;
      if (keys_.back() == "Process Group Name") event_.group = text;
      if (keys_.back() == "Process Group Ranks") event_.group_ranks = text;
    } else if (is_device() && keys_.back() == "name") {
      device_name_ = text;
    }
  }

  void take_number(const TorchNumber& number) {
    if (is_event()) {
      const std::string& key = keys_.back();
      if (key == "ts") event_.start = number.nanoseconds;
      if (key == "dur") event_.length = number.nanoseconds;
      if (key == "pid") event_.process = number.whole;
      if (key == "tid") event_.thread = number.whole;
    } else if (is_argument(4)) {
      take_argument(keys_.back(), number);
    } else if (is_argument(5)) {  // of a list: its own key is that of the object around it
      if (keys_[3] == "grid") event_.grid.push_back(number.whole);
      if (keys_[3] == "block") event_.block.push_back(number.whole);
    } else if (is_device()) {
      device_[keys_.back()] = number;
    } else if (is_distributed()) {
      if (keys_.back() == "rank") file_.rank = known<std::uint32_t>(number);
      if (keys_.back() == "world_size") file_.world_size = known<std::uint32_t>(number);
    } else if (keys_.size() == 1) {
      if (keys_.back() == "schemaVersion") file_.schema = fmt::format("{}", number.whole);
      if (keys_.back() == "baseTimeNanoseconds") file_.base = std::max<std::int64_t>(number.whole, 0);
    }
  }

  void take_argument(const std::string& key, const TorchNumber& number) {
    if (key == "device") event_.device = within<std::uint32_t>(number);
    if (key == "context") event_.context = within<std::uint32_t>(number);
    if (key == "stream") event_.stream = within<std::uint32_t>(number);
    if (key == "correlation") event_.correlation = number.whole;
    if (key == "bytes") event_.bytes = within<std::uint64_t>(number);
    if (key == "registers per thread") event_.registers = within<std::uint32_t>(number);
    if (key == "shared memory") event_.shared_memory = within<std::uint32_t>(number);
    if (key == "graph id") event_.graph = within<std::uint64_t>(number);
    if (key == "graph node id") event_.graph_node = within<std::uint64_t>(number);
    if (key == "In msg nelems") event_.elements_in = within<std::uint64_t>(number);
    if (key == "Out msg nelems") event_.elements_out = within<std::uint64_t>(number);
    if (key == "Group size") event_.group_size = within<std::uint32_t>(number);
  }

  void add_device() {
    const auto fact = [&]<class T>(std::string_view name, std::optional<T>& into) {
      const auto found = device_.find(name);
      if (found != device_.end()) into = within<T>(found->second);
    };
    trace::Gpu gpu{.name = device_name_};
    std::optional<std::uint32_t> id;
    fact("id", id);
    gpu.id = id.value_or(static_cast<std::uint32_t>(file_.gpus.size()));
    fact("totalGlobalMem", gpu.memory);
    fact("computeMajor", gpu.compute_major);
    fact("computeMinor", gpu.compute_minor);
    fact("warpSize", gpu.threads_per_warp);
    fact("numSms", gpu.multiprocessors);
    file_.gpus.push_back(std::move(gpu));
  }

  TorchFile& file_;
  const Take& take_;
  std::vector<std::string> keys_;  ///< of each level that is open; of a list: nothing
  TorchEvent event_;
  TorchProperties device_;
  std::string device_name_;
};

// --- Rows ---

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::optional<Size> size_of(const std::vector<std::int64_t>& axes) {
  if (axes.size() != 3) return std::nullopt;
  Size size{};
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (!std::in_range<std::int32_t>(axes[i])) return std::nullopt;
    size.at(i) = static_cast<std::int32_t>(axes[i]);
  }
  return size;
}

/// "Memcpy HtoD (Pageable -> Device)"
trace::TransferKind copy_kind(std::string_view name) {
  using trace::TransferKind;
  constexpr std::array<std::pair<std::string_view, TransferKind>, 10> ways{
      std::pair{std::string_view("HtoD"), TransferKind::host_to_device},
      {"DtoH", TransferKind::device_to_host},
      {"HtoA", TransferKind::host_to_array},
      {"AtoH", TransferKind::array_to_host},
      {"AtoA", TransferKind::array_to_array},
      {"AtoD", TransferKind::array_to_device},
      {"DtoA", TransferKind::device_to_array},
      {"DtoD", TransferKind::device_to_device},
      {"HtoH", TransferKind::host_to_host},
      {"PtoP", TransferKind::peer_to_peer}};
  for (const auto& [word, kind] : ways) {
    if (name.find(word) != name.npos) return kind;
  }
  return TransferKind::unknown;
}

std::optional<trace::MemoryKind> memory_kind(std::string_view name) {
  for (const nsys::EnumRow& row : nsys::memory_kind_rows) {
    if (row.label == name) return static_cast<trace::MemoryKind>(row.id);
  }
  return std::nullopt;
}

/// The two kinds of memory in brackets.
std::pair<std::optional<trace::MemoryKind>, std::optional<trace::MemoryKind>> memory_kinds(
    std::string_view name) {
  constexpr std::string_view arrow = " -> ";
  const std::size_t open = name.find('('), middle = name.find(arrow), close = name.rfind(')');
  if (open == name.npos || middle == name.npos || close == name.npos || middle < open || close < middle)
    return {};
  const std::size_t second = middle + arrow.size();
  return {memory_kind(name.substr(open + 1, middle - open - 1)),
          memory_kind(name.substr(second, std::max(second, close) - second))};
}

/// Bytes of an element, as PyTorch names its type; 0: not known.
std::uint64_t element_size(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 16> sizes{
      std::pair{std::string_view("Float"), std::uint64_t{4}},
      {"Half", 2},
      {"BFloat16", 2},
      {"Double", 8},
      {"Long", 8},
      {"Int", 4},
      {"Short", 2},
      {"Char", 1},
      {"Byte", 1},
      {"Bool", 1},
      {"ComplexFloat", 8},
      {"ComplexDouble", 16},
      {"Float8_e4m3fn", 1},
      {"Float8_e5m2", 1},
      {"Float8_e4m3fnuz", 1},
      {"Float8_e5m2fnuz", 1}};
  const auto found = std::ranges::find(sizes, name, &std::pair<std::string_view, std::uint64_t>::first);
  return found == sizes.end() ? 0 : found->second;
}

/// PyTorch makes its all_to_all of NCCL's Send and Recv, so the kernel's name does not say what it is:
/// "all_to_all", "all_to_allv", "alltoall_base".
std::optional<trace::CollectiveKind> message_kind(std::string collective) {
  std::erase(collective, '_');
  return lower_case(std::move(collective)).starts_with("alltoall")
             ? std::optional(trace::CollectiveKind::all_to_all)
             : std::nullopt;
}

trace::SynchronizationKind synchronization_kind(std::string_view name) {
  using trace::SynchronizationKind;
  if (name.starts_with("Stream Wait Event")) return SynchronizationKind::stream_wait_event;
  if (name.starts_with("Event")) return SynchronizationKind::event;
  if (name.starts_with("Stream")) return SynchronizationKind::stream;
  return name.starts_with("Context") ? SynchronizationKind::context : SynchronizationKind::unknown;
}

/// Makes rows of events. Work of a GPU names its device where others name their process, so that processes
/// are known when all is read.
class TorchRows {
 public:
  void add(const TorchEvent& event) {
    if (event.phase == "M" && event.name == "process_name") names_[event.process] = event.process_name;
    if (event.phase != "X" || !event.start || !event.length) return;
    const std::string category = lower_case(event.category);
    if (category == "kernel") {
      add_kernel(event);
    } else if (category == "gpu_memcpy" || category == "memcpy") {
      add_copy(event);
    } else if (category == "gpu_memset" || category == "memset") {
      trace_.transfers.push_back({.time = time(event),
                                  .correlation = event.correlation,
                                  .bytes = event.bytes,
                                  .queue = queue(event),
                                  .kind = trace::TransferKind::set,
                                  .graph_node = event.graph_node});
    } else if (category == "cuda_runtime" || category == "runtime") {
      add_call(event, trace::Api::runtime);
    } else if (category == "cuda_driver") {
      add_call(event, trace::Api::driver);
    } else if (category == "cuda_sync") {
      trace_.synchronizations.push_back({.time = time(event),
                                         .correlation = event.correlation,
                                         .kind = synchronization_kind(event.name),
                                         .context = event.context,
                                         .stream = event.stream});
    } else if (category == "user_annotation") {
      add_range(event, "");
    } else if (category == "cpu_op" || category == "operator") {
      add_range(event, torch_domain);
    } else if (category == "python_function") {
      const std::int64_t on = thread(event);
      trace_.frames.push_back(
          {.time = time(event), .thread = on, .end_thread = on, .name = trace_.names.index(event.name)});
    }
  }

  [[nodiscard]] bool has_cuda() const {
    return !trace_.kernels.empty() || !trace_.transfers.empty() || !trace_.calls.empty();
  }

  trace::Trace finish(TorchFile file) {
    place_in_processes();
    name_rank(file);
    begin_at_zero(file.base);
    trace_.product = "PyTorch's profiler";
    trace_.schema_version = std::move(file.schema);
    trace_.gpus = std::move(file.gpus);
    return std::move(trace_);
  }

 private:
  static trace::Interval time(const TorchEvent& event) {
    return {*event.start, *event.start + *event.length};
  }
  static trace::Queue queue(const TorchEvent& event) { return {event.device, event.context, event.stream}; }

  void add_kernel(const TorchEvent& event) {
    trace_.kernels.push_back({.time = time(event),
                              .correlation = event.correlation,
                              .name = trace_.names.index(event.name),
                              .queue = queue(event),
                              .graph_node = event.graph_node,
                              .graph = event.graph,
                              .grid = size_of(event.grid),
                              .block = size_of(event.block),
                              .registers_per_thread = event.registers,
                              .static_shared_memory = event.shared_memory,
                              .message = message(event)});
  }

  /// PyTorch gives each group of processes a name; who is in it tells groups apart where processes do not
  /// agree on names.
  std::uint32_t message(const TorchEvent& event) {
    const std::optional<trace::CollectiveKind> kind = message_kind(event.collective);
    if (event.group.empty() && event.group_size == 0 && !kind) return 0;
    constexpr std::uint64_t most = std::uint64_t{1} << 56;
    const std::uint64_t elements = std::min(std::max(event.elements_in, event.elements_out), most);
    const std::string group =
        event.group_ranks.empty() ? event.group : fmt::format("{} {}", event.group, event.group_ranks);
    return trace_.messages.index({.group = trace_.names.index(group),
                                  .group_size = event.group_size,
                                  .bytes = elements * element_size(event.element),
                                  .kind = kind});
  }

  void add_copy(const TorchEvent& event) {
    const auto [source, destination] = memory_kinds(event.name);
    trace_.transfers.push_back({.time = time(event),
                                .correlation = event.correlation,
                                .bytes = event.bytes,
                                .queue = queue(event),
                                .kind = copy_kind(event.name),
                                .source = source,
                                .destination = destination,
                                .graph_node = event.graph_node});
  }

  void add_call(const TorchEvent& event, trace::Api api) {
    const trace::NameIndex name = trace_.names.index(event.name);
    processes_.try_emplace(event.correlation, event.process);
    if (!first_process_) first_process_ = event.process;
    trace_.calls.push_back({.time = time(event),
                            .correlation = event.correlation,
                            .thread = thread(event),
                            .name = name,
                            .versioned_name = name,
                            .api = api});
  }

  void add_range(const TorchEvent& event, std::string_view domain) {
    const std::int64_t on = thread(event);
    trace_.ranges.push_back({.time = time(event),
                             .thread = on,
                             .end_thread = on,
                             .name = trace_.names.index(fmt::format("{}:{}", domain, event.name)),
                             .domain = trace_.names.index(domain)});
  }

  /// The number of a thread may be the address of something: those that do not fit get another one.
  std::int64_t thread(const TorchEvent& event) {
    const std::int64_t process = global(event.process);
    if (event.thread > 0 && event.thread <= nsys::thread_mask)
      return nsys::global_thread(process, static_cast<std::uint32_t>(event.thread));
    const auto [entry, is_new] = odd_threads_.try_emplace({event.process, event.thread}, 0);
    if (is_new) entry->second = static_cast<std::uint32_t>(nsys::thread_mask + 1) - ++odd_;
    return nsys::global_thread(process, entry->second);
  }

  static std::int64_t global(std::int64_t process) {
    return nsys::global_process(static_cast<std::uint32_t>(process & nsys::thread_mask));
  }

  void place_in_processes() {
    const auto place_one = [&](auto& row) {
      const auto found = processes_.find(row.correlation);
      row.process = global(found == processes_.end() ? first_process_.value_or(0) : found->second);
    };
    const auto place = [&](auto& rows) {
      for (auto& row : rows) place_one(row);
    };
    trace_.kernels.change_all(place_one);
    place(trace_.transfers);
    place(trace_.synchronizations);
    for (const auto& [process, name] : names_) {
      if (!name.empty()) trace_.processes.push_back({global(process), name});
    }
  }

  /// A file is of one process.
  void name_rank(const TorchFile& file) {
    if (!file.rank || !first_process_) return;
    const std::int64_t process = global(*first_process_);
    auto found = std::ranges::find(trace_.processes, process, &trace::ProcessInfo::id);
    if (found == trace_.processes.end()) found = trace_.processes.insert(found, {.id = process});
    found->rank = file.rank;
    found->world_size = file.world_size;
  }

  /// Times are of a clock that began at some moment of its own, or since 1970.
  void begin_at_zero(std::int64_t base) {
    constexpr std::int64_t this_century = 946'684'800'000'000'000;
    std::optional<std::int64_t> first;
    const auto each = [&](const auto& visit) {
      visit(trace_.kernels.rows());
      visit(trace_.transfers);
      visit(trace_.synchronizations);
      visit(trace_.calls);
      visit(trace_.ranges);
    };
    each([&](const auto& rows) {
      for (const auto& row : rows) first = std::min(first.value_or(row.time.start), row.time.start);
    });
    const std::int64_t start = first.value_or(0);
    each([&](auto& rows) {
      for (auto& row : rows) {
        row.time.start -= start;
        row.time.end -= start;
      }
    });
    for (trace::Range& frame : trace_.frames) frame.time = {frame.time.start - start, frame.time.end - start};
    const double epoch = static_cast<double>(start) + static_cast<double>(base);
    if (epoch > static_cast<double>(this_century) && epoch < latest_ns) trace_.epoch = start + base;
  }

  trace::Trace trace_;
  std::map<std::int64_t, std::string> names_;       ///< of processes
  std::map<std::int64_t, std::int64_t> processes_;  ///< by correlation id
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> odd_threads_;
  std::uint32_t odd_ = 0;  ///< how many
  std::optional<std::int64_t> first_process_;
};

}  // namespace

trace::Trace parse_torch_trace(std::string_view text, const std::string& name) {
  json::require_shallow(text, name);
  TorchFile file;
  TorchRows rows;
  const auto take = [&](const TorchEvent& event) { rows.add(event); };
  TorchHandler handler(file, take);
  nlohmann::json::sax_parse(text, &handler);
  if (handler.error_at) {
    const bool is_cut = *handler.error_at >= text.size();
    refuse_torch(name, is_cut ? std::string("the JSON ends in the middle: the file was cut off")
                              : fmt::format("this is not valid JSON at byte {}", *handler.error_at));
  }
  if (!file.has_events) refuse_torch(name, "the JSON has no list `traceEvents`");
  if (!rows.has_cuda()) refuse_torch(name, "its events have neither a kernel, a copy nor a call of CUDA");
  return rows.finish(std::move(file));
}

trace::Trace read_torch_trace(const std::filesystem::path& file) {
  std::string text = read_file(file, json::largest_document);
  if (text.starts_with("\x1f\x8b")) {
    const std::vector<std::byte> plain =
        gunzip(std::as_bytes(std::span(text)), file.string(), json::largest_document);
    text.assign(reinterpret_cast<const char*>(plain.data()), plain.size());
  }
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos || text[start] != '{') {
    const std::string is = what_it_is(text, file);
    if (!is.empty()) throw Error(ExitCode::usage, fmt::format("{}: {}", file.string(), is));
    refuse_torch(file.string(), "this is no JSON object");
  }
  return parse_torch_trace(text, file.string());
}

}  // namespace mprof
