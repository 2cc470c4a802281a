// SPDX-License-Identifier: MIT
#include "collectors/cuda/injected_counters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <driver_types.h>
#include <fmt/format.h>

#include "collectors/cuda/gpu_profiling.hpp"
#include "cuda/cupti.hpp"
#include "cuda/gpu.hpp"
#include "cuda/profiler_host.hpp"
#include "model/kernel_name.hpp"
#include "model/metric_presets.hpp"
#include "model/trace/op_name.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

// --- The request ---

/// Of the metrics together; 0 where CUPTI does not take them so.
std::size_t passes_of(const std::string& chip, std::span<const std::string> metrics) {
  cuda::ProfilerHost host(chip);
  return host.add(metrics) ? cuda::number_of_passes(host.config_image()) : 0;
}

CounterSelection selection_of(const Plan& plan) {
  CounterSelection selection{.chip = cuda::chip_name(), .metrics = plan.metrics};
  if (selection.metrics.empty()) selection.metrics = preset_metrics("default");
  std::ranges::copy_if(selection.metrics, std::back_inserter(selection.counted),
                       [](const std::string& id) { return !is_launch_metric(id); });
  return selection;
}

void prepare(const InjectionRequest& request) {
  CounterSelection selection = selection_of(request.plan);
  journal::CounterRequest counters = request_for(selection.chip, selection.counted, selection.missing);
  counters.ops = request.ops;
  counters.ranges = request.plan.ops;
  counters.kernels = request.plan.kernels;
  counters.launch_skip = request.plan.launch_skip;
  counters.max_kernels = request.plan.max_kernels;
  counters.left_out = request.left_out;
  counters.replays = request.replays;
  counters.wanted = request.wanted;
  write_file(request.folder / journal::counter_request_file, journal::bytes_of(counters));
}

// --- The journals ---

/// Where a kernel's counts are.
struct Counts {
  const std::string* data = nullptr;
  std::size_t range = 0;
  std::uint64_t passes = 0;
};

/// A kernel of one process.
struct Found {
  std::string op{};
  std::string symbol{};
  journal::Kernel entry{};
  journal::Launches launches{};
  Counts counts{};
  std::string reason{};   ///< why nothing of it is counted; empty: nobody said
  bool is_chosen = true;  ///< by --kernels and --max-kernels
  [[nodiscard]] auto identity() const {
    return std::tuple(op, symbol, std::to_array(entry.grid), std::to_array(entry.block));
  }
};

std::string text_of(const journal::Journal& journal, std::uint64_t number) {
  const auto found = journal.texts.find(number);
  return found == journal.texts.end() ? std::string() : found->second;
}

/// Whether it was launched too seldom, where nothing else speaks against it.
bool lacks_launches(const Found& kernel, const journal::CounterRequest& request) {
  return kernel.counts.passes < request.passes && kernel.reason.empty() && kernel.is_chosen &&
         kernel.launches.launches > 0;
}

/// Why a metric has no value, where the process did not say.
std::string why_missing(const Found& kernel, const journal::CounterRequest& request) {
  const std::uint64_t launches = kernel.launches.launches;
  if (launches == 0 && kernel.launches.in_graphs > 0)
    return "CUDA graphs launch it, and their kernels run as one piece; to have it counted, run the program "
           "once with graphs off (torch.compile: mode=\"default\"; vLLM: --enforce-eager)";
  return fmt::format(
      "it was launched {} time{}, too seldom or too irregularly for {}{} passes, each of which takes another "
      "launch",
      launches, launches == 1 ? "" : "s", kernel.counts.passes > 0 ? "all " : "", request.passes);
}

void add_counts(const journal::Journal& journal, std::map<std::uint64_t, Found>& by_number) {
  for (const journal::Counted& counted : journal.counted) {
    const auto found = by_number.find(counted.kernel);
    const auto data = journal.counts.find(counted.counts);
    if (found == by_number.end() || data == journal.counts.end()) continue;
    Counts& best = found->second.counts;
    if (counted.passes >= best.passes) best = {&data->second, counted.range, counted.passes};
  }
}

std::vector<Found> kernels_of(const journal::Journal& journal) {
  std::map<std::uint64_t, Found> by_number;
  for (const journal::Kernel& entry : journal.kernels) {
    Found& found = by_number[entry.number];
    found.entry = entry;
    found.symbol = text_of(journal, entry.symbol);
    found.op = text_of(journal, entry.op);
  }
  for (const auto& [number, launches] : journal.launches) {
    if (by_number.contains(number)) by_number[number].launches = launches;
  }
  add_counts(journal, by_number);
  for (const auto& [uncounted, reason] : journal.uncounted) {
    const auto found = by_number.find(uncounted.kernel);
    if (found == by_number.end()) continue;
    if (found->second.reason.empty()) found->second.reason = reason;
    if (uncounted.is_chosen == 0) found->second.is_chosen = false;
  }
  std::vector<Found> all;
  for (auto& [number, found] : by_number) all.push_back(std::move(found));
  return all;
}

/// What the second one has more of.
void merge(Found& into, const Found& from) {
  if (from.counts.passes > into.counts.passes) into.counts = from.counts;
  into.launches.launches += from.launches.launches;
  into.launches.in_graphs += from.launches.in_graphs;
}

cuda::KernelAttributes attributes_of(const journal::Kernel& entry) {
  return {.registers = entry.registers,
          .static_shared_memory = entry.static_shared_memory,
          .max_dynamic_shared_memory = entry.max_dynamic_shared_memory,
          .max_threads_per_block = entry.max_threads_per_block,
          .shared_memory_carveout = entry.shared_memory_carveout};
}

/// What does not count as a metric's value, and why not; "" where it does.
std::string why_uncounted(const Found& found, const journal::CounterRequest& request,
                          const std::string& metric, double value) {
  const bool has_several = std::ranges::count(request.several, metric) > 0;
  if (has_several && !request.replays && journal::is_of_communication(found.symbol))
    return "it takes several passes, and a kernel that waits for other processes takes another time in each";
  if (std::isnan(value) && found.counts.passes < request.passes) return why_missing(found, request);
  return "";
}

CountedKernel counted(const Found& found, const journal::CounterRequest& request,
                      const CounterSelection& selection, const EvaluateCounters& evaluate) {
  const auto extent = [](const std::uint32_t(&size)[3]) { return cuda::Extent{size[0], size[1], size[2]}; };
  CountedKernel kernel{.op = found.op,
                       .launch = {.symbol = found.symbol,
                                  .grid = extent(found.entry.grid),
                                  .block = extent(found.entry.block),
                                  .dynamic_shared_memory = found.entry.dynamic_shared_memory}};
  if (found.entry.registers >= 0)
    kernel.attributes = attributes_of(found.entry);
  else
    kernel.unknown_attributes = "the driver does not say what the kernel needs";
  if (found.counts.data == nullptr) {
    kernel.uncounted = found.reason.empty() ? why_missing(found, request) : found.reason;
    return kernel;
  }
  kernel.counts.assign(selection.counted.size(), std::numeric_limits<double>::quiet_NaN());
  const std::vector<double> values = evaluate(*found.counts.data, found.counts.range);
  for (std::size_t i = 0; i < request.metrics.size(); ++i) {
    const auto at = std::ranges::find(selection.counted, request.metrics[i]);
    if (at == selection.counted.end()) continue;
    const std::string why = why_uncounted(found, request, request.metrics[i], values[i]);
    if (!why.empty()) kernel.uncounted_metrics[request.metrics[i]] = why;
    kernel.counts[static_cast<std::size_t>(at - selection.counted.begin())] = values[i];
  }
  return kernel;
}

/// "gemm", or for another shape of it "gemm, grid 12 x 1 x 1, block 256 x 1 x 1".
std::string name_of_shape(const std::string& name, const journal::Kernel& entry) {
  return fmt::format("{}, grid {} x {} x {}, block {} x {} x {}", name, entry.grid[0], entry.grid[1],
                     entry.grid[2], entry.block[0], entry.block[1], entry.block[2]);
}

/// Names the kernels of one op as the trace does: by their symbols, in the order of their first launches. Of
/// one that is launched in several shapes the one that is launched most has the name alone.
std::vector<std::pair<std::string, const Found*>> named(const std::vector<const Found*>& kernels) {
  std::vector<std::string> symbols;
  for (const Found* kernel : kernels) {
    if (std::ranges::count(symbols, kernel->symbol) == 0) symbols.push_back(kernel->symbol);
  }
  const std::vector<std::string> names = distinct_kernel_names(symbols);
  std::vector<std::pair<std::string, const Found*>> all;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    std::vector<const Found*> shapes;
    std::ranges::copy_if(kernels, std::back_inserter(shapes),
                         [&](const Found* kernel) { return kernel->symbol == symbols[i]; });
    std::ranges::stable_sort(shapes, std::greater(),
                             [](const Found* kernel) { return kernel->launches.launches; });
    for (const Found* shape : shapes)
      all.emplace_back(shape == shapes.front() ? names[i] : name_of_shape(names[i], shape->entry), shape);
  }
  return all;
}

/// In the processes' order, each kernel of all processes once.
std::vector<Found> all_kernels(std::span<const journal::Journal> journals,
                               const journal::CounterRequest& request) {
  std::vector<Found> all;
  for (const journal::Journal& journal : journals) {
    for (Found& found : kernels_of(journal)) {
      const auto same =
          std::ranges::find_if(all, [&](const Found& other) { return other.identity() == found.identity(); });
      if (same == all.end())
        all.push_back(std::move(found));
      else
        merge(*same, found);
    }
  }
  const bool has_ranges = std::ranges::any_of(all, [](const Found& found) { return !found.op.empty(); }) ||
                          std::ranges::any_of(request.ops, [](const std::string& op) {
                            return op != trace::whole_program && op != trace::outside_of_ranges;
                          });
  for (Found& found : all) {
    if (found.op.empty()) found.op = has_ranges ? trace::outside_of_ranges : trace::whole_program;
  }
  return all;
}

void add_notes(const journal::Journal& journal, InjectedPass& pass) {
  for (const std::string& note : journal.notes)
    pass.notes.push_back(fmt::format("Process {}: {}", journal.head.process, note));
  if (!journal.has_ended && !journal.kernels.empty())
    pass.notes.push_back(fmt::format(
        "Process {} ended without running its exit handlers (a signal, _exit): what was counted until then "
        "is kept.",
        journal.head.process));
  for (const std::uint64_t number : journal.stopped) {
    for (const journal::Kernel& kernel : journal.kernels) {
      if (kernel.number == number) pass.stopped_by.push_back(text_of(journal, kernel.symbol));
    }
  }
}

std::map<std::string, std::string> variables(const std::filesystem::path& library,
                                             const InjectionRequest& /*request*/) {
  return {{"CUDA_INJECTION64_PATH", library.string()},
          {"NVTX_INJECTION64_PATH", library.string()},
          {journal::cupti_variable, cuda::cupti_library().path()}};
}

InjectedPass read(const InjectionRequest& asked) {
  const auto request = journal::read_counter_request(read_file(asked.folder / journal::counter_request_file));
  if (!request)
    throw Error(ExitCode::environment, "The request to count kernels was changed by the program.");
  CounterSelection selection = selection_of(asked.plan);
  for (const std::string& metric : selection.counted) {
    if (std::ranges::count(request->metrics, metric) == 0) selection.missing.push_back(metric);
  }
  cuda::ProfilerHost host(request->chip);
  const bool is_known = request->metrics.empty() || host.add(request->metrics);
  const auto evaluate = [&](std::string_view data, std::size_t range) {
    if (!is_known)
      return std::vector<double>(request->metrics.size(), std::numeric_limits<double>::quiet_NaN());
    return host.evaluate({reinterpret_cast<const std::uint8_t*>(data.data()), data.size()}, range,
                         request->metrics);
  };
  const std::vector<journal::Journal> journals = journal::read_journals(asked.folder);
  InjectedPass pass = read_injected_counters(journals, *request, selection, evaluate, cuda::gpu());
  for (const journal::Journal& journal : journals) {
    if (const auto window = journal::opened_window(journal)) pass.part = *window;
  }
  return pass;
}

const bool registered = (InjectionKinds::instance().add({
                             .pass = Pass::counters,
                             .library = "libmprof_counters.so",
                             .unavailable = gpu_profiling_unavailable,
                             .variables = variables,
                             .prepare = prepare,
                             .read = read,
                         }),
                         true);

}  // namespace

journal::CounterRequest request_for(const std::string& chip, std::span<const std::string> metrics,
                                    std::vector<std::string>& unknown) {
  journal::CounterRequest request{.chip = chip};
  for (const std::string& metric : metrics) {
    const std::size_t passes = passes_of(chip, std::span(&metric, 1));
    if (passes == 0) {
      unknown.push_back(metric);
      continue;
    }
    request.metrics.push_back(metric);
    if (passes > 1) request.several.push_back(metric);
  }
  if (request.metrics.empty()) return request;
  cuda::ProfilerHost host(chip);
  if (!host.add(request.metrics))
    throw Error(ExitCode::environment, "CUPTI does not take these metrics together: give --metrics fewer.");
  const std::vector<std::uint8_t> config = host.config_image();
  request.passes = static_cast<std::uint32_t>(cuda::number_of_passes(config));
  request.config.assign(config.begin(), config.end());
  return request;
}

InjectedPass read_injected_counters(std::span<const journal::Journal> journals,
                                    const journal::CounterRequest& request, const CounterSelection& selection,
                                    const EvaluateCounters& evaluate, const cudaDeviceProp& gpu) {
  InjectedPass pass;
  for (const journal::Journal& journal : journals) add_notes(journal, pass);
  const std::vector<Found> all = all_kernels(journals, request);
  for (const Found& found : all) {
    if (lacks_launches(found, request)) pass.lacking.push_back(found.symbol);
  }
  std::vector<std::string> ops;
  for (const Found& found : all) {
    if (std::ranges::count(ops, found.op) == 0) ops.push_back(found.op);
  }
  for (const std::string& op : ops) {
    std::vector<const Found*> own;
    for (const Found& found : all) {
      if (found.op == op) own.push_back(&found);
    }
    for (const auto& [name, found] : named(own)) {
      if (found->is_chosen)
        add_measurements(selection, counted(*found, request, selection, evaluate), name, gpu,
                         pass.measurements);
    }
  }
  return pass;
}

}  // namespace mprof
