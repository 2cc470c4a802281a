// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "model/sanitizer.hpp"
#include "model/trace/trace.hpp"

/// Runs made up for tests: every number follows from its place, so they are the same on every machine.
namespace mprof::samples {

/// `count` samples around `middle`, spread over ± `spread` of it.
[[nodiscard]] std::vector<double> around(double middle, double spread = 0.004, std::size_t count = 21);

/// A measurement with these samples.
[[nodiscard]] Measurement measured(const std::string& metric, const std::string& op,
                                   std::vector<double> samples, Source source = Source::measured);
[[nodiscard]] Measurement absent(const std::string& metric, const std::string& op, std::string reason);

/// A problem of the family "conv", and the batch of its case.
[[nodiscard]] Problem at_batch(std::uint64_t batch);
[[nodiscard]] std::uint64_t batch_of(const Case& c);

/// What the families of these runs say of themselves, without their problems: images in layers whose answers
/// can be accurate; a map on two axes that counts nothing.
[[nodiscard]] FamilyInfo conv_family();
[[nodiscard]] FamilyInfo map_family();

/// A variant of the family "conv" with one parameterless configuration.
[[nodiscard]] VariantInfo variant(std::string id, std::string baseline = {});

/// A case with two verified ops of the given times, a total time and an accuracy.
[[nodiscard]] Case timed_case(const VariantInfo& info, std::uint64_t batch, double layer1, double layer2,
                              Parameters parameters = {});
/// A case that came to nothing.
[[nodiscard]] Case failed_case(const VariantInfo& info, std::uint64_t batch, Status status,
                               std::string reason);

/// A kernel's measurement, as the counters and trace passes leave it.
[[nodiscard]] Measurement of_kernel(const std::string& metric, const std::string& op,
                                    const std::string& kernel, double value);

/// Counters of a kernel of an op, as the default presets read them: throughputs in percent, 1 ms long.
void add_kernel(Case& c, const std::string& op, const std::string& kernel, double compute, double memory);

/// The pass of a case, added when it has none.
[[nodiscard]] PassResult& pass_of(Case& c, Pass pass);

/// The timing pass of a case; tests change what they are about.
[[nodiscard]] PassResult& timing(Case& c);

/// Replaces the samples of (metric, op).
void set_samples(Case& c, std::string_view metric, std::string_view op, std::vector<double> samples);

/// A run with nothing in it but a machine and a plan.
[[nodiscard]] Run empty_run();

/// A complete run, as of a small server: four CPU variants, three batches.
[[nodiscard]] Run healthy();
/// The same machine later: one variant slower, one faster, one wrong, one less accurate, one case gone.
[[nodiscard]] Run later();
/// One case of each way to go wrong, a sweep, a run that was interrupted.
[[nodiscard]] Run troubled();
/// A GPU run in outline: other device, other ops, gpu_time, a variant that works outside forward().
[[nodiscard]] Run gpu();
/// Every text from outside is an attack on HTML, Markdown, SVG or the page's width.
[[nodiscard]] Run hostile();
/// Sweeps: of one parameter with a wrong and a crashed point, of two, of words that tie, of a variant that
/// works outside forward(), of three.
[[nodiscard]] Run swept();
/// Two families in one run, of which the second has two axes, no noun for its op with the copies, no quality
/// and special functions.
[[nodiscard]] Run two_families();
/// `variants` variants at four batches.
[[nodiscard]] Run large(std::size_t variants);

/// All variants of a run under all tools of compute-sanitizer, at batch 100: nothing was found.
[[nodiscard]] SanitizerRecord clean_record(const Run& run);
/// Lets the first variant have each bad outcome, its first report being `report`, and the second one a
/// warning.
void spoil(SanitizerRecord& check, const std::string& report);

/// Traces of the first `count` cases of a run: one kernel is called `kernel`.
[[nodiscard]] std::vector<trace::Trace> traces_of(const Run& run, std::size_t count,
                                                  const std::string& kernel = "scale");
/// trace.sqlite with them in a directory.
std::filesystem::path write_traces(const std::vector<trace::Trace>& traces,
                                   const std::filesystem::path& directory);

}  // namespace mprof::samples
