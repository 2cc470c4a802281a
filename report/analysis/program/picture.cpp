// SPDX-License-Identifier: MIT
#include "report/analysis/program/picture.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/kernel_name.hpp"
#include "model/trace/interval_set.hpp"
#include "report/analysis/program/range_words.hpp"
#include "report/trace/range_nesting.hpp"

namespace mprof {

/// By the places of their cases, without what the record says of them.
struct KnownPictures {
  std::map<trace::CaseIndex, std::optional<ProgramPicture>> of_case;
};

namespace {

using trace::IntervalSet;

/// A gap between two kernels that is shorter is that of a launch, or of a framework that gets to the next
/// one.
constexpr std::int64_t longest_launch_gap = 50'000;  // ns

bool lies_in(const trace::Interval& time, const trace::Interval& window) {
  return time.start < window.end && time.end > window.start;
}

/// Launches that have all but their times in common.
struct SharedSum {
  const trace::KernelRow* one = nullptr;
  std::int64_t time = 0;
  std::uint64_t launches = 0;

  void add(const SharedSum& more) {
    one = more.one;
    time += more.time;
    launches += more.launches;
  }
};

/// A function and the distinct names of its instances.
struct Function {
  FunctionTime told;
  std::set<trace::NameIndex> names;
  std::map<trace::PlaceIndex, std::int64_t> places;
  std::map<std::uint32_t, SharedSum> shared;
  std::vector<trace::Interval> moments;
};

/// What a picture has.
enum class Detail : std::uint8_t {
  compared,  ///< what program_change() compares
  all,
};

using ShapeKey = std::tuple<trace::NameIndex, std::optional<trace::Size>, std::optional<trace::Size>>;

class Kernels {
 public:
  Kernels(const trace::Trace& trace, trace::CaseIndex index, const trace::Interval& window, Detail detail)
      : window_({window}) {
    std::map<std::string_view, RangeTime> ranges;
    add_rows(trace, index, window, detail, ranges);
    std::map<KernelKind, KindTime> kinds;
    for (const auto& [key, function] : functions_) {
      KindTime& kind = kinds[function.told.kind];
      kind.kind = function.told.kind;
      kind.time += function.told.time;
      kind.launches += function.told.launches;
    }
    for (const auto& [kind, time] : kinds) kinds_.push_back(time);
    std::ranges::stable_sort(kinds_, std::ranges::greater{}, &KindTime::time);
    for (auto& [key, function] : functions_) {
      if (detail != Detail::all) continue;
      if (ranges.size() > 1) add_ranges(trace, function);
      add_shapes(trace, function);
    }
    for (auto& [name, time] : ranges) {
      time.name = name;
      if (ranges.size() > 1) ranges_.push_back(time);
    }
    std::ranges::stable_sort(ranges_, std::ranges::greater{}, &RangeTime::time);
  }

  [[nodiscard]] std::vector<KindTime> kinds() const { return kinds_; }
  [[nodiscard]] std::uint64_t of_graphs() const { return of_graphs_; }
  [[nodiscard]] std::vector<RangeTime> ranges() const { return ranges_; }
  /// The longest first.
  [[nodiscard]] std::vector<FunctionTime> functions() const {
    std::vector<FunctionTime> all;
    for (const auto& [name, function] : functions_) {
      all.push_back(function.told);
      all.back().instances = function.names.size();
      all.back().span = IntervalSet(function.moments).length_in(window_);
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &FunctionTime::time);
    return all;
  }

 private:
  /// Sums the rows by what they share and by their places first: these are few.
  void add_rows(const trace::Trace& trace, trace::CaseIndex index, const trace::Interval& window,
                Detail detail, std::map<std::string_view, RangeTime>& ranges) {
    std::unordered_map<trace::NameIndex, Function*> by_name;
    struct PlacedSum {
      Function* function = nullptr;
      SharedSum sum;
    };
    std::unordered_map<std::uint64_t, PlacedSum> sums;
    for (const trace::KernelRow& row : trace::of_case(trace.kernels.rows(), index)) {
      if (!lies_in(row.time, window)) continue;
      PlacedSum& placed = sums[std::uint64_t{row.shared} << 32 | row.place];
      if (placed.function == nullptr) {
        const trace::NameIndex name = trace.kernels.shared(row).name;
        Function*& function = by_name[name];
        if (function == nullptr) {
          function = &function_of(trace.names[name]);
          function->names.insert(name);
        }
        placed.function = function;
      }
      placed.sum.add({&row, row.time.length(), 1});
      if (trace.kernels.graph_node(row) != 0) ++of_graphs_;
      if (detail == Detail::all) placed.function->moments.push_back(row.time);
    }
    for (const auto& [key, placed] : sums) {
      const SharedSum& sum = placed.sum;
      Function& function = *placed.function;
      function.told.time += sum.time;
      function.told.launches += sum.launches;
      function.places[sum.one->place] += sum.time;
      function.shared[sum.one->shared].add(sum);
      RangeTime& range = ranges[trace.places[sum.one->place].op];
      range.time += sum.time;
      range.launches += sum.launches;
    }
  }

  static void add_ranges(const trace::Trace& trace, Function& function) {
    std::map<std::string, std::int64_t> times;
    for (const auto& [place, time] : function.places) times[trace.places[place].op] += time;
    function.told.ranges.assign(times.begin(), times.end());
    std::ranges::stable_sort(function.told.ranges, std::ranges::greater{},
                             &std::pair<std::string, std::int64_t>::second);
  }

  /// What is shared by rows also tells streams apart, which launches of one shape do not differ by.
  static void add_shapes(const trace::Trace& trace, Function& function) {
    std::map<ShapeKey, LaunchShape> shapes;
    for (const auto& [place, sum] : function.shared) {
      const trace::Kernel& kernel = trace.kernels.shared(*sum.one);
      LaunchShape& shape = shapes[{kernel.name, kernel.grid, kernel.block}];
      if (shape.launches == 0)
        shape = {.name = kernel_name_of_demangled(trace.names[kernel.name]).templated,
                 .grid = kernel.grid,
                 .block = kernel.block,
                 .registers = kernel.registers_per_thread};
      shape.time += sum.time;
      shape.launches += sum.launches;
    }
    for (auto& [key, shape] : shapes) function.told.shapes.push_back(std::move(shape));
    std::ranges::stable_sort(function.told.shapes, std::ranges::greater{}, &LaunchShape::time);
  }

  Function& function_of(const std::string& whole) {
    const KernelName name = kernel_name_of_demangled(whole);
    const KernelKind kind = kernel_kind(whole);
    // One function of a library may do two things, by its functor.
    Function& function = functions_[{std::string(function_name(name.templated)), kind}];
    function.told.name = function_name(name.templated);
    function.told.kind = kind;
    return function;
  }

  IntervalSet window_;
  std::map<std::pair<std::string, KernelKind>, Function> functions_;
  std::vector<KindTime> kinds_;
  std::vector<RangeTime> ranges_;
  std::uint64_t of_graphs_ = 0;
};

/// s, of the launch that was counted; 0 where that was not read.
double counted_time(const KernelResult& kernel) {
  const Value time = kernel.counters.value("gpu__time_duration.sum");
  return time ? time->median : 0;
}

void add_counted(const FamilyResult& family, const CaseResult& result, std::vector<FunctionTime>& functions) {
  std::map<std::string_view, const KernelResult*> counted;
  for (const KernelResult& kernel : family.speed_of_light.kernels) {
    if (kernel.result != &result) continue;
    const KernelResult*& longest = counted[function_name(kernel.counters.kernel)];
    if (longest == nullptr || counted_time(kernel) > counted_time(*longest)) longest = &kernel;
  }
  for (FunctionTime& function : functions) {
    // A generic function is several kernels, by its functor: of which the counters are is not known then.
    const bool is_one = std::ranges::count(functions, function.name, &FunctionTime::name) == 1;
    const auto found = counted.find(function.name);
    if (is_one && found != counted.end()) function.counted = found->second;
  }
}

void add_to(std::vector<SourceLine>& lines, const SourceLine& more) {
  const auto same = std::ranges::find_if(
      lines, [&](const SourceLine& line) { return line.file == more.file && line.line == more.line; });
  if (same == lines.end()) {
    lines.push_back(more);
    return;
  }
  same->samples += more.samples;
  for (const auto& [stall, samples] : more.stalls) same->stalls[stall] += samples;
}

/// A generic function is several kernels, by its functor, and samples do not say of which.
void add_sampled(const CaseResult& result, std::vector<FunctionTime>& functions) {
  const PassResult* const source =
      result.source == nullptr ? nullptr : find_pass(*result.source, Pass::source);
  if (source == nullptr) return;
  for (FunctionTime& function : functions) {
    if (std::ranges::count(functions, function.name, &FunctionTime::name) > 1) continue;
    for (const SourceLine& line : source->source_lines) {
      if (function_name(line.kernel) == function.name) add_to(function.sampled, line);
    }
  }
}

/// ns of the window in which a GPU ran kernels that exchange data with others, and nothing else: the mean of
/// the GPUs that do.
std::int64_t communication_alone(const trace::Trace& trace, trace::CaseIndex index,
                                 const trace::Interval& window) {
  struct Moments {
    std::vector<trace::Interval> exchanging, others;
  };
  std::map<std::uint32_t, Moments> gpus;
  std::unordered_map<trace::NameIndex, bool> exchanges;
  for (const trace::KernelRow& row : trace::of_case(trace.kernels.rows(), index)) {
    if (!lies_in(row.time, window)) continue;
    const trace::Kernel& kernel = trace.kernels.shared(row);
    const auto [known, is_new] = exchanges.try_emplace(kernel.name);
    if (is_new) known->second = kernel_kind(trace.names[kernel.name]) == KernelKind::communication;
    Moments& moments = gpus[kernel.queue.device];
    (known->second ? moments.exchanging : moments.others).push_back(row.time);
  }
  std::int64_t sum = 0, count = 0;
  for (auto& [gpu, moments] : gpus) {
    if (moments.exchanging.empty()) continue;
    sum += ((IntervalSet(std::move(moments.exchanging)) & IntervalSet({window})) -
            IntervalSet(std::move(moments.others)))
               .length();
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// The parts of the budget that a bound is about, where the host causes it.
std::vector<BudgetPart> idle_parts_of(ProgramBound bound) {
  switch (bound) {
    case ProgramBound::launching:
    case ProgramBound::host:
      return {BudgetPart::idle_calls, BudgetPart::idle_host};
    case ProgramBound::waiting:
      return {BudgetPart::idle_waiting};
    case ProgramBound::allocation:
      return {BudgetPart::idle_allocation};
    case ProgramBound::system:
      return {BudgetPart::idle_system};
    case ProgramBound::kernels:
    case ProgramBound::copies:
    case ProgramBound::communication:
    case ProgramBound::tracing:
      break;
  }
  return {};
}

/// In which ranges of the steps' thread the host keeps the GPU idle, and calls the longest of its waits.
void add_places(const trace::Trace& trace, trace::CaseIndex index, const SharedTime& time,
                ProgramPicture& picture) {
  const std::vector<BudgetPart> parts = idle_parts_of(picture.bound);
  if (parts.empty()) return;
  RangeNesting nesting(trace, index, picture.steps ? &*picture.steps : nullptr, picture.told,
                       picture.steps ? picture.steps->steady_steps() : 0);
  if (nesting.empty()) return;
  const MomentsOfParts moments = time.idle_in(picture.told);
  RangeShares of_bound(nesting);
  for (const BudgetPart part : parts) {
    for (const trace::Interval& gap : moments.at(static_cast<std::size_t>(part)).intervals())
      of_bound.add(gap.start + gap.length() / 2, gap.length());
  }
  // Of several GPUs it is when none had work, and the bound is of the busiest one.
  if (picture.budget.gpus.empty())
    std::tie(picture.bounding_range, picture.in_bounding_range) = of_bound.most();
  if (picture.waits.empty()) return;
  RangeShares of_wait(nesting);
  for (const trace::Call& call : trace::of_case(trace.calls, index)) {
    if (call.thread == nesting.main() && lies_in(call.time, picture.told) &&
        trace.names[call.name] == picture.waits.front().call)
      of_wait.add(call.time.start, 1);
  }
  picture.waits.front().range = of_wait.most().first;
}

/// The outermost ranges of the steps' thread that get the input; nullopt without any.
std::optional<std::pair<std::string, std::int64_t>> loader_of(const trace::Trace& trace,
                                                              trace::CaseIndex index,
                                                              const ProgramPicture& picture,
                                                              const IntervalSet& idle) {
  std::set<trace::NameIndex> names;
  for (const trace::Range& range : trace::of_case(trace.ranges, index)) names.insert(range.name);
  const bool has_any =
      std::ranges::any_of(names, [&](trace::NameIndex name) { return is_loader(trace.names[name]); });
  if (!picture.steps || !has_any) return std::nullopt;
  RangeNesting nesting(trace, index, &*picture.steps, picture.told, picture.steps->steady_steps());
  if (nesting.empty()) return std::nullopt;
  std::map<std::string, std::vector<trace::Interval>> loading;
  for (const NestedRange& range : nesting.threads()[nesting.main()].instances) {
    if (is_loader(nesting.name(range.text))) loading[nesting.name(range.text)].push_back(range.time);
  }
  // Of several the one that stands in each step, and of these the longest.
  std::optional<std::pair<std::string, std::int64_t>> longest;
  std::int64_t most = 0;
  for (auto& [name, times] : loading) {
    if (times.size() < picture.steps->steady_steps()) continue;
    const IntervalSet moments(std::move(times));
    if (longest && moments.length() <= most) continue;
    most = moments.length();
    longest = {name, (moments & idle).length()};
  }
  return longest;
}

/// When one GPU worked, or any did.
IntervalSet moments_with_work(const trace::Trace& trace, trace::CaseIndex index,
                              const trace::Interval& window, std::optional<std::uint32_t> gpu) {
  const auto moments_of = [&](const auto& rows, const auto& device) {
    std::vector<trace::Interval> times;
    for (const auto& row : trace::of_case(rows, index)) {
      if ((!gpu || device(row) == *gpu) && lies_in(row.time, window)) times.push_back(row.time);
    }
    return IntervalSet(std::move(times));
  };
  const auto own = [](const auto& row) { return row.queue.device; };
  const auto of_kernel = [&](const trace::KernelRow& row) { return trace.kernels.shared(row).queue.device; };
  return (moments_of(trace.kernels.rows(), of_kernel) | moments_of(trace.graphs, own) |
          moments_of(trace.transfers, own)) &
         IntervalSet({window});
}

std::vector<WaitTime> waits_of(const trace::Trace& trace, trace::CaseIndex index,
                               const trace::Interval& window, const IntervalSet& idle) {
  std::map<std::string, std::vector<trace::Interval>> calls;
  trace::CallKinds kinds(trace);
  for (const trace::Call& call : trace::of_case(trace.calls, index)) {
    if (lies_in(call.time, window) && kinds.of(call) == trace::CallKind::wait)
      calls[trace.names[call.name]].push_back(call.time);
  }
  std::vector<WaitTime> waits;
  for (auto& [name, times] : calls) {
    const std::size_t count = times.size();
    waits.push_back({name, IntervalSet(std::move(times)).length_in(idle), count});
  }
  std::ranges::stable_sort(waits, std::ranges::greater{}, &WaitTime::idle);
  return waits;
}

struct Bounding {
  ProgramBound bound;
  std::int64_t time;  ///< ns that it takes
};

/// Of several GPUs the busiest one bounds a program: what all of them together do hides that each one waits
/// for the next. nullopt of one GPU.
std::optional<GpuShare> busiest_of(const TimeBudget& budget) {
  if (budget.gpus.empty()) return std::nullopt;
  return *std::ranges::minmax_element(budget.gpus, {}, &GpuShare::kernels).max;
}

/// What takes the most of the time in which no kernel runs; kernels, where that is little.
Bounding bounding(const TimeBudget& all, const IntervalSet& idle, std::int64_t communication) {
  constexpr double little = 0.15;
  TimeBudget budget = all;
  std::int64_t copies = budget.of(BudgetPart::copies_in) + budget.of(BudgetPart::copies_out) +
                        budget.of(BudgetPart::copies_both_ways);
  std::int64_t kernels = budget.of(BudgetPart::kernels) + budget.of(BudgetPart::kernels_and_copies);
  if (const std::optional<GpuShare> busiest = busiest_of(budget)) {
    budget.parts = busiest->idle;
    copies = busiest->copies;
    kernels = busiest->kernels;
  }
  std::int64_t short_gaps = 0;
  for (const trace::Interval& gap : idle.intervals()) {
    if (gap.length() <= longest_launch_gap) short_gaps += gap.length();
  }
  const std::int64_t by_host = budget.of(BudgetPart::idle_calls) + budget.of(BudgetPart::idle_host);
  const bool is_launching =
      2 * short_gaps >= idle.length() || budget.of(BudgetPart::idle_calls) > budget.of(BudgetPart::idle_host);
  const std::array candidates{
      Bounding{is_launching ? ProgramBound::launching : ProgramBound::host, by_host},
      Bounding{ProgramBound::copies, copies},
      Bounding{ProgramBound::communication, communication},
      Bounding{ProgramBound::waiting, budget.of(BudgetPart::idle_waiting)},
      Bounding{ProgramBound::allocation, budget.of(BudgetPart::idle_allocation)},
      Bounding{ProgramBound::system, budget.of(BudgetPart::idle_system)},
      Bounding{ProgramBound::tracing, budget.of(BudgetPart::idle_tracing)},
  };
  const Bounding most = *std::ranges::max_element(candidates, {}, &Bounding::time);
  const bool is_busy = static_cast<double>(budget.idle() + copies + communication) <=
                       little * static_cast<double>(budget.window);
  return is_busy ? Bounding{ProgramBound::kernels, kernels} : most;
}

std::int64_t first_call_of(const trace::Trace& trace, trace::CaseIndex index, std::int64_t otherwise) {
  std::int64_t first = otherwise;
  for (const trace::Call& call : trace::of_case(trace.calls, index)) first = std::min(first, call.time.start);
  return first;
}

}  // namespace

double ProgramPicture::share_of_kernels(std::int64_t time) const {
  return kernel_time > 0 ? static_cast<double>(time) / static_cast<double>(kernel_time) : 0;
}

std::vector<std::pair<BudgetPart, double>> ProgramPicture::more_in_warming_up() const {
  constexpr double notable = 0.15;
  std::vector<std::pair<BudgetPart, double>> parts;
  if (!warming_up || !steps) return parts;
  const double as_many = static_cast<double>(steps->steady) / static_cast<double>(steps->steady_steps());
  for (std::size_t i = 0; i < budget_parts; ++i) {
    const auto part = static_cast<BudgetPart>(i);
    const double more =
        static_cast<double>(warming_up->of(part)) - as_many * static_cast<double>(budget.of(part));
    if (more >= notable * static_cast<double>(warming_up->window)) parts.emplace_back(part, more);
  }
  std::ranges::stable_sort(parts, std::ranges::greater{}, &std::pair<BudgetPart, double>::second);
  return parts;
}

std::optional<double> ProgramPicture::floor_of(const FunctionTime& function) {
  constexpr double all_of_it = 100;  // %
  if (function.counted == nullptr) return std::nullopt;
  const Value sm = function.counted->counters.value("sm__throughput.avg.pct_of_peak_sustained_elapsed");
  const Value memory =
      function.counted->counters.value("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
  if (!sm || !memory) return std::nullopt;
  return std::min(1.0, std::max(sm->median, memory->median) / all_of_it);
}

std::optional<double> ProgramPicture::floor_of_kernels() const {
  constexpr double most = 0.5;
  double counted = 0, left = 0;
  for (const FunctionTime& function : functions) {
    const double share = share_of_kernels(function.time);
    const std::optional<double> floor = floor_of(function);
    if (floor) counted += share;
    left += share * floor.value_or(1);
  }
  return counted >= most ? std::optional(std::min(1.0, left)) : std::nullopt;
}

namespace {

/// The steps of a case, and the budget of what is told of it. `all`: the budget of the whole case.
void add_budget(const trace::Trace& trace, const SharedTime& time, const TimeBudget& all,
                ProgramPicture& picture) {
  picture.budget = all;
  picture.whole = trace.cases.at(picture.index).window;
  picture.first_call = first_call_of(trace, picture.index, picture.whole.end);
  picture.told = {picture.first_call, picture.whole.end};
  picture.steps = steps_of(trace, picture.index);
  if (picture.steps) {
    if (auto steady = time.of(picture.steps->steady_time())) {
      picture.told = picture.steps->steady_time();
      picture.budget = *std::move(steady);
    } else {
      picture.steps.reset();
    }
  }
  const std::int64_t before =
      picture.budget.of(BudgetPart::idle_before) + picture.budget.of(BudgetPart::idle_start);
  if (!picture.steps && before > 0) {
    if (auto told = time.of(picture.told)) picture.budget = *std::move(told);
  }
}

void add_kernels(const trace::Trace& trace, Detail detail, ProgramPicture& picture) {
  const Kernels kernels(trace, picture.index, picture.told, detail);
  picture.kinds = kernels.kinds();
  for (const KindTime& kind : picture.kinds) {
    picture.kernel_time += kind.time;
    picture.launches += kind.launches;
  }
  picture.of_graphs = kernels.of_graphs();
  picture.functions = kernels.functions();
  picture.ranges = kernels.ranges();
}

void add_bound(const trace::Trace& trace, const IntervalSet& idle, ProgramPicture& picture) {
  const bool communicates = std::ranges::count(picture.kinds, KernelKind::communication, &KindTime::kind) > 0;
  const Bounding most = bounding(picture.budget, idle,
                                 communicates ? communication_alone(trace, picture.index, picture.told) : 0);
  picture.bound = most.bound;
  picture.bounding = most.time;
  // Without what tracing cost: an execution that is not traced does not have it.
  const std::int64_t untraced = picture.budget.window - picture.budget.of(BudgetPart::idle_tracing);
  const bool is_known = most.bound != ProgramBound::kernels && most.bound != ProgramBound::tracing;
  if (is_known && most.time < untraced)
    picture.gain = static_cast<double>(untraced) / static_cast<double>(untraced - most.time);
}

/// What a report tells beyond what is compared.
void explain(const trace::Trace& trace, const SharedTime& time, const IntervalSet& idle,
             ProgramPicture& picture) {
  if (picture.steps && picture.steps->steady > 0)
    picture.warming_up = time.of({picture.steps->all.front().host.start, picture.told.start});
  picture.waits = waits_of(trace, picture.index, picture.told, idle);
  picture.loader = loader_of(trace, picture.index, picture, idle);
  add_places(trace, picture.index, time, picture);
  constexpr std::size_t most_explained = 5;
  if (picture.steps) picture.slow = slow_steps_of(trace, picture.index, *picture.steps, time, most_explained);
}

std::optional<ProgramPicture> picture_with(const trace::Trace& trace, trace::CaseIndex index,
                                           const SharedTime& time, const TimeBudget& all, Detail detail) {
  ProgramPicture picture{.index = index};
  add_budget(trace, time, all, picture);
  add_kernels(trace, detail, picture);
  if (picture.launches == 0) return std::nullopt;
  picture.launched_from = launch_lines_of(trace, index, picture.told);
  picture.memory = memory_use_of(trace, index, picture.steps ? &*picture.steps : nullptr);
  const std::optional<GpuShare> busiest = busiest_of(picture.budget);
  const IntervalSet idle =
      IntervalSet({picture.told}) -
      moments_with_work(trace, index, picture.told, busiest ? std::optional(busiest->gpu) : std::nullopt);
  add_bound(trace, idle, picture);
  if (detail == Detail::all) explain(trace, time, idle, picture);
  return picture;
}

}  // namespace

std::optional<ProgramPicture> compared_picture(const trace::Trace& trace, trace::CaseIndex index) {
  const SharedTime time(trace, index);
  const std::optional<TimeBudget> all = time.of_execution();
  return all ? picture_with(trace, index, time, *all, Detail::compared) : std::nullopt;
}

std::optional<ProgramPicture> picture_of(const FamilyResult& family, const CaseResult& result,
                                         const Evidence& evidence) {
  if (!result.ok()) return std::nullopt;
  const CaseBudget all = budget_of(result, evidence);
  if (!all.budget) return std::nullopt;
  const trace::Trace& trace = *evidence.profile;
  const auto found = std::ranges::find(trace.cases, result.id, &trace::CaseInfo::id);
  const auto index = static_cast<trace::CaseIndex>(found - trace.cases.begin());
  if (!evidence.pictures) evidence.pictures = std::make_shared<KnownPictures>();
  const auto [known, is_new] = evidence.pictures->of_case.try_emplace(index);
  if (is_new) known->second = picture_with(trace, index, SharedTime(trace, index), *all.budget, Detail::all);
  std::optional<ProgramPicture> picture = known->second;
  if (!picture) return std::nullopt;
  picture->result = &result;
  add_counted(family, result, picture->functions);
  add_sampled(result, picture->functions);
  return picture;
}

bool is_of_one_program(const FamilyResult& family) {
  if (family.variants.size() != 1) return false;
  const VariantResult& only = family.variants.front();
  return family.id == own_family || (only.info.is_program() && only.cases.size() == 1);
}

std::optional<ProgramPicture> picture_of_variant(const FamilyResult& family, const VariantResult& variant,
                                                 const Evidence& evidence) {
  for (auto result = variant.cases.rbegin(); result != variant.cases.rend(); ++result) {
    if (auto picture = picture_of(family, *result, evidence)) return picture;
  }
  return std::nullopt;
}

std::optional<ProgramPicture> picture_of_family(const FamilyResult& family, const Evidence& evidence) {
  if (!is_of_one_program(family)) return std::nullopt;
  return picture_of_variant(family, family.variants.front(), evidence);
}

}  // namespace mprof
