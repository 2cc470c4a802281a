// SPDX-License-Identifier: MIT
#include "runner/program/gpu_sampling.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "collectors/gpu_sampling.hpp"
#include "model/trace/nsys_schema.hpp"
#include "runner/devices.hpp"
#include "runner/protocol.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

constexpr double end_limit = 30;  // s, in which a sampler writes what it has

/// CUPTI names all GPUs that a process sees.
bool has_work_on(const trace::Trace& trace, std::uint32_t gpu) {
  const auto is_on_it = [&](const auto& row) { return row.queue.device == gpu; };
  return std::ranges::any_of(
             trace.kernels.rows(),
             [&](const trace::KernelRow& row) { return is_on_it(trace.kernels.shared(row)); }) ||
         std::ranges::any_of(trace.transfers, is_on_it) || std::ranges::any_of(trace.graphs, is_on_it);
}

/// The GPU of a trace that a unit is. Where neither has another, it is that one, whatever it is called (MIG).
const trace::Gpu* gpu_of(const trace::Trace& trace, const DeviceUnit& unit, bool is_only_one) {
  const auto found =
      std::ranges::find(trace.gpus, trace::nsys::bare_uuid(unit.id),
                        [](const trace::Gpu& gpu) { return trace::nsys::bare_uuid(gpu.uuid); });
  if (found != trace.gpus.end()) return &*found;
  return is_only_one && trace.gpus.size() == 1 ? &trace.gpus.front() : nullptr;
}

}  // namespace

GpuSampling::GpuSampling(const Setting& setting)
    : clock_(setting.clock), interrupt_fd_(setting.interrupt_fd), folder_("mprof-samples") {
  for (const DeviceUnit& gpu : setting.gpus) {
    Sampler& sampler = samplers_.emplace_back(Sampler{.gpu = gpu});
    sampler.file = folder_.path() / std::to_string(samplers_.size());
    const Job job{
        .kind = JobKind::sample_gpu, .seconds = setting.interval, .trace_file = sampler.file.string()};
    sampler.process = std::make_unique<Process>(worker_on(gpu, setting.worker_command), to_line(job),
                                                std::map<std::string, std::string>{}, Process::Input::open);
  }
  for (Sampler& sampler : samplers_) hear(sampler, worker_start_limit, false);
}

/// Until it samples, or until it has ended.
void GpuSampling::hear(Sampler& sampler, double limit, bool until_end) const {
  const double deadline = clock_.now() + limit;
  while (sampler.refusal.empty()) {
    const Process::Event event = sampler.process->next(clock_, deadline, until_end ? -1 : interrupt_fd_);
    if (event.kind == Process::Event::Kind::interrupted) return;
    if (event.kind != Process::Event::Kind::line) {
      sampler.process->kill();
      const std::string how = event.kind == Process::Event::Kind::deadline
                                  ? fmt::format("it did not answer within {:.0f} s", limit)
                                  : sampler.process->how_it_ended();
      sampler.refusal = fmt::format("the process that samples it ended: {}", how);
      return;
    }
    try {
      Message message = parse_message(event.line);
      sampler.refusal = std::move(message.refusal);
      if (message.kind == MessageKind::sampled) sampler.notes = std::move(message.notes);
      if (message.kind == (until_end ? MessageKind::sampled : MessageKind::ready)) return;
    } catch (const Error& error) {
      sampler.refusal = error.what();
    }
  }
}

std::vector<std::string> GpuSampling::finish(trace::Trace& trace) {
  std::vector<std::string> notes;
  if (samplers_.empty()) notes.emplace_back("No GPU was sampled: mprof finds none.");
  for (Sampler& sampler : samplers_) {
    if (sampler.refusal.empty()) sampler.process->tell("\n");
  }
  for (Sampler& sampler : samplers_) {
    if (sampler.refusal.empty()) hear(sampler, end_limit, true);
    const trace::Gpu* const gpu = gpu_of(trace, sampler.gpu, samplers_.size() == 1);
    if (gpu == nullptr || !has_work_on(trace, gpu->id)) continue;
    std::error_code error;
    trace::GpuSamples samples;
    if (std::filesystem::exists(sampler.file, error)) samples = read_samples(sampler.file);
    if (!sampler.refusal.empty())
      notes.push_back(fmt::format("GPU {} was {}: {}", gpu->id,
                                  samples.times.empty() ? "not sampled" : "sampled in part",
                                  sampler.refusal));
    for (const std::string& note : sampler.notes) notes.push_back(fmt::format("GPU {}: {}", gpu->id, note));
    samples.device = gpu->id;
    if (!samples.times.empty()) trace.gpu_samples.push_back(std::move(samples));
  }
  return notes;
}

}  // namespace mprof
