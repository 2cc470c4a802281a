// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "model/trace/trace.hpp"

namespace mprof {

/// What the libraries of mprof's in a program's processes are asked for in one pass.
struct InjectionRequest {
  std::filesystem::path folder{};  ///< of their journals
  const Plan& plan;
  std::vector<std::string> ops{};       ///< that earlier passes have found; empty: none looked
  std::vector<std::string> left_out{};  ///< symbols of kernels that must not be counted
  bool replays = false;                 ///< kernels are replayed, so that one launch suffices for all metrics
  std::vector<std::string> wanted{};    ///< symbols of the kernels that are counted; empty: all
  double seconds = 0;                   ///< that the program took untraced; 0: it was not timed
};

/// What they wrote, read.
struct InjectedPass {
  trace::Trace trace{};  ///< of all processes, and of no case yet
  std::uint64_t dropped = 0;
  std::optional<trace::Interval> part{};       ///< the part of the program that it is of; nullopt: all of it
  std::vector<trace::Interval> cuda_starts{};  ///< of a trace pass: when CUDA came up in each process
  std::vector<std::string> notes{};            ///< sentences: what is missing, and why
  std::vector<Measurement> measurements{};     ///< of a counters pass
  std::vector<SourceLine> source_lines{};      ///< of a source pass
  std::vector<std::string> stopped_by{};  ///< of a counters pass: symbols of kernels that did not end when
                                          ///< counted
  std::vector<std::string> lacking{};  ///< of a counters pass: kernels that were launched too seldom for all
                                       ///< metrics
};

/// A way to watch a program from inside in one pass. Variables in the environment make the program's
/// processes load a library, which writes a journal in each of them. Registered by its own file.
struct InjectionKind {
  Pass pass = Pass::trace;
  std::string library{};  ///< its file's name
  /// Why it cannot be used here, or nullopt.
  std::function<std::optional<std::string>()> unavailable{};
  /// What the environment must have, beside the folder for the journals.
  std::function<std::map<std::string, std::string>(const std::filesystem::path& library,
                                                   const InjectionRequest&)>
      variables{};
  /// Writes what the library reads beside that; may be empty. Throws Error(environment) where it cannot.
  std::function<void(const InjectionRequest&)> prepare{};
  std::function<InjectedPass(const InjectionRequest&)> read{};
};

class InjectionKinds {
 public:
  static InjectionKinds& instance();
  void add(InjectionKind kind) { kinds_.push_back(std::move(kind)); }
  /// nullptr: this build has none for the pass.
  [[nodiscard]] const InjectionKind* of(Pass pass) const;

 private:
  std::vector<InjectionKind> kinds_;
};

/// Where mprof's library of this name is: in the program's folder in a build, in lib/mprof of an
/// installation; nullopt when it is in neither.
[[nodiscard]] std::optional<std::filesystem::path> find_injection(const std::string& library);

}  // namespace mprof
