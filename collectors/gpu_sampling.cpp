// SPDX-License-Identifier: MIT
#include "collectors/gpu_sampling.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/trace/gpu_samples.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

constexpr std::string_view first_line = "mprof samples 1";

/// Writes what is in order, and counts what is not. The file has a line for what it is, one for each metric,
/// an empty one, and then the readings as they lie in memory.
class Recording {
 public:
  Recording(const std::vector<std::string>& metrics, const std::filesystem::path& path)
      : path_(path), file_(path, std::ios::binary) {
    file_ << first_line << '\n';
    for (const std::string& metric : metrics) file_ << metric << '\n';
    file_ << '\n' << std::flush;
    require_written();
  }

  void add(const GpuSampler::Taken& taken) {
    for (const GpuSampler::Reading& reading : taken.readings) add(reading);
    if (taken.overflowed) ++counts_.overflows;
    file_.flush();
    require_written();
  }
  void stop_for(std::string reason) { counts_.stopped_by = std::move(reason); }
  [[nodiscard]] const SamplingCounts& counts() const { return counts_; }

 private:
  void add(const GpuSampler::Reading& reading) {
    if (!std::exchange(has_first_, true)) return;
    const auto& [start, end] = reading.time;
    if (end <= start || (last_ && start < last_->end)) {
      ++counts_.disordered;
      return;
    }
    if (last_ && start - last_->end > last_->length() / 2) {
      ++counts_.gaps;
      counts_.gap_time += start - last_->end;
    }
    last_ = reading.time;
    ++counts_.samples;
    const auto write = [&](const void* bytes, std::size_t size) {
      file_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    };
    write(&start, sizeof start);
    write(&end, sizeof end);
    write(reading.values.data(), reading.values.size() * sizeof(float));
  }

  void require_written() const {
    if (!file_)
      throw Error(ExitCode::environment,
                  fmt::format("Cannot write {}: is there room on the disk?", path_.string()));
  }

  std::filesystem::path path_;
  std::ofstream file_;
  SamplingCounts counts_;
  std::optional<trace::Interval> last_;
  bool has_first_ = false;
};

void take_all(GpuSampler& sampler, Recording& recording) {
  for (bool has_more = true; has_more;) {
    const GpuSampler::Taken taken = sampler.take();
    recording.add(taken);
    has_more = taken.has_more;
  }
}

}  // namespace

GpuSamplers& GpuSamplers::instance() {
  static GpuSamplers samplers;
  return samplers;
}

std::unique_ptr<GpuSampler> GpuSamplers::make(double interval) const {
  if (!kind_) throw Error(ExitCode::environment, "this build of mprof is without CUDA");
  return kind_->make(interval);
}

SamplingCounts record_samples(GpuSampler& sampler, const std::filesystem::path& file,
                              const std::function<void()>& on_start, const std::function<bool()>& goes_on) {
  Recording recording(sampler.metrics(), file);
  sampler.start();
  on_start();
  try {
    while (goes_on()) take_all(sampler, recording);
    sampler.stop();
    take_all(sampler, recording);
  } catch (const Error& error) {
    recording.stop_for(error.what());
  }
  return recording.counts();
}

std::vector<std::string> notes_of(const SamplingCounts& counts) {
  constexpr double nano = 1e-9, kilo = 1e3;
  std::vector<std::string> notes;
  const auto plural = [](std::uint64_t count) { return count == 1 ? "" : "s"; };
  if (!counts.stopped_by.empty())
    notes.push_back(fmt::format("Sampling ended before the program did: {}", counts.stopped_by));
  if (counts.overflows > 0)
    notes.push_back(fmt::format(
        "The buffer for samples overflowed {} time{}, and samples are missing. Sample less often: "
        "--sample=1ms.",
        counts.overflows, plural(counts.overflows)));
  const double gap = static_cast<double>(counts.gap_time) * nano;
  if (counts.gaps > 0)
    notes.push_back(fmt::format(
        "The samples have {} gap{}, {} in all: averages are of the time that was sampled.", counts.gaps,
        plural(counts.gaps), gap < 1 ? fmt::format("{:.3g} ms", gap * kilo) : fmt::format("{:.3g} s", gap)));
  if (counts.disordered > 0)
    notes.push_back(fmt::format(
        "{} sample{} before an earlier one ended, as after a step of the system's clock.", counts.disordered,
        counts.disordered == 1 ? " is left out, since it begins" : "s are left out, since they begin"));
  if (counts.samples == 0 && counts.stopped_by.empty())
    notes.emplace_back("The program ended before the first sample: sample more often, or run it longer.");
  return notes;
}

trace::GpuSamples read_samples(const std::filesystem::path& file) {
  const std::string contents = read_file(file);
  if (contents.empty()) return {};
  std::string_view rest = contents;
  const auto next_line = [&] {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
  };
  if (next_line() != first_line)
    throw Error(ExitCode::usage, file.string() + ": these are no samples that this version of mprof took.");
  trace::GpuSamples samples;
  for (std::string_view line = next_line(); !line.empty(); line = next_line())
    samples.curves.push_back({.name = std::string(line)});
  const std::size_t size = 2 * sizeof(std::int64_t) + samples.curves.size() * sizeof(float);
  const auto take = [&](auto& value) {
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
  };
  while (rest.size() >= size) {
    trace::Interval& time = samples.times.emplace_back();
    take(time.start);
    take(time.end);
    for (trace::GpuCurve& curve : samples.curves) take(curve.values.emplace_back());
  }
  std::vector<std::int64_t> lengths;
  for (const trace::Interval& time : samples.times) lengths.push_back(time.length());
  samples.interval = trace::usual_length(std::move(lengths));
  return samples;
}

}  // namespace mprof
