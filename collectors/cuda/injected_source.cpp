// SPDX-License-Identifier: MIT
#include "collectors/cuda/injected_source.hpp"

#include <map>
#include <string>

#include <fmt/format.h>

#include "collectors/cuda/sampled_kernels.hpp"
#include "cuda/cupti.hpp"
#include "cuda/line_tables.hpp"
#include "cuda/pc_sampler.hpp"
#include "device/device.hpp"
#include "model/trace/program.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Of all multiprocessors in a whole program: kernels take a part of its time, and lines a part of theirs.
constexpr double wanted_samples = 4e6;
constexpr double usual_seconds = 60;  // of a program that was not timed

void add_process(const journal::Journal& journal, const cuda::LineTables& tables, SampledKernels& kernels) {
  for (const auto& [place, counts] : journal.sampled) {
    const auto symbol = journal.texts.find(place.function);
    if (symbol == journal.texts.end()) continue;
    std::map<std::string, std::uint64_t> stalls;
    for (const journal::StallCount& count : counts) {
      const auto name = journal.stalls.find(count.stall);
      if (name == journal.stalls.end()) continue;
      if (const auto reason = cuda::stall_reason(name->second)) stalls[*reason] += count.samples;
    }
    kernels[symbol->second].add(tables.place_of(place.code, symbol->second.c_str(), place.offset), stalls);
  }
}

cuda::LineTables tables_in(const fs::path& folder) {
  cuda::LineTables tables;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == journal::code_extension && entry.is_regular_file() && !entry.is_symlink())
      tables.add(read_file(entry.path()));
  }
  return tables;
}

std::optional<std::string> unavailable() {
  const Device* const gpu = Devices::instance().find("cuda");
  if (gpu == nullptr) return "this build of mprof is without CUDA";
  if (auto reason = gpu->unavailable()) return reason;
  return cuda::cupti_unavailable();
}

std::map<std::string, std::string> variables(const fs::path& library, const InjectionRequest& request) {
  const double seconds = request.seconds > 0 ? request.seconds : usual_seconds;
  return {{"CUDA_INJECTION64_PATH", library.string()},
          {"NVTX_INJECTION64_PATH", library.string()},
          {journal::cupti_variable, cuda::cupti_library().path()},
          {journal::sampling_variable, fmt::to_string(cuda::sampling_period(seconds, wanted_samples))}};
}

const bool registered =
    (InjectionKinds::instance().add({
         .pass = Pass::source,
         .library = "libmprof_source.so",
         .unavailable = unavailable,
         .variables = variables,
         .prepare = {},
         .read =
             [](const InjectionRequest& request) {
               return read_injected_source(journal::read_journals(request.folder), request.folder);
             },
     }),
     true);

}  // namespace

InjectedPass read_injected_source(std::span<const journal::Journal> journals, const fs::path& folder) {
  InjectedPass pass;
  const cuda::LineTables tables = tables_in(folder);
  SampledKernels kernels;
  for (const journal::Journal& journal : journals) {
    add_process(journal, tables, kernels);
    for (const std::string& note : journal.notes)
      pass.notes.push_back(fmt::format("Process {}: {}", journal.head.process, note));
    if (!journal.has_ended && !journal.sampled.empty())
      pass.notes.push_back(fmt::format(
          "Process {} ended without running its exit handlers (a signal, _exit): what was sampled until "
          "about two seconds before is kept.",
          journal.head.process));
    if (const auto window = journal::opened_window(journal)) pass.part = *window;
  }
  add_most_sampled(kernels, trace::whole_program, pass.source_lines);
  return pass;
}

}  // namespace mprof
