// SPDX-License-Identifier: MIT
#include "collectors/cuda/injected_source.hpp"

#include <map>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "collectors/cuda/gpu_profiling.hpp"
#include "collectors/cuda/sampled_kernels.hpp"
#include "cuda/cupti.hpp"
#include "cuda/line_tables.hpp"
#include "cuda/pc_sampler.hpp"
#include "model/trace/program.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Of all multiprocessors in a whole program: kernels take a part of its time, and lines a part of theirs.
constexpr double wanted_samples = 4e6;
constexpr double usual_seconds = 60;  // of a program that was not timed

/// An instruction, by its module's checksum, its function's symbol and its offset there.
using Instruction = std::tuple<std::uint64_t, std::string, std::uint64_t>;
using Stalls = std::map<std::string, std::uint64_t>;  ///< samples by what the warp waited for

/// A process writes what it sampled every few seconds, so that the same instructions come time and again.
void add_process(const journal::Journal& journal, std::map<Instruction, Stalls>& sampled) {
  for (const auto& [place, counts] : journal.sampled) {
    const auto symbol = journal.texts.find(place.function);
    if (symbol == journal.texts.end()) continue;
    Stalls& stalls = sampled[{place.code, symbol->second, place.offset}];
    for (const journal::StallCount& count : counts) {
      const auto name = journal.stalls.find(count.stall);
      if (name == journal.stalls.end()) continue;
      if (const auto reason = cuda::stall_reason(name->second)) stalls[*reason] += count.samples;
    }
  }
}

SampledKernels kernels_of(const std::map<Instruction, Stalls>& sampled, const cuda::LineTables& tables) {
  SampledKernels kernels;
  for (const auto& [instruction, stalls] : sampled) {
    const auto& [code, symbol, offset] = instruction;
    kernels[symbol].add(tables.place_of(code, symbol.c_str(), offset), stalls);
  }
  return kernels;
}

cuda::LineTables tables_in(const fs::path& folder) {
  cuda::LineTables tables;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == journal::code_extension && entry.is_regular_file() && !entry.is_symlink())
      tables.add(read_file(entry.path()));
  }
  return tables;
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
         .unavailable = gpu_profiling_unavailable,
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
  std::map<Instruction, Stalls> sampled;
  for (const journal::Journal& journal : journals) {
    add_process(journal, sampled);
    for (const std::string& note : journal.notes)
      pass.notes.push_back(fmt::format("Process {}: {}", journal.head.process, note));
    if (!journal.has_ended && !journal.sampled.empty())
      pass.notes.push_back(fmt::format(
          "Process {} ended without running its exit handlers (a signal, _exit): what was sampled until "
          "about two seconds before is kept.",
          journal.head.process));
    if (const auto window = journal::opened_window(journal)) pass.part = *window;
  }
  add_most_sampled(kernels_of(sampled, tables_in(folder)), trace::whole_program, pass.source_lines);
  return pass;
}

}  // namespace mprof
