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

/// What the libraries of mprof's in a program's processes wrote in one pass, read.
struct InjectedPass {
  trace::Trace trace{};  ///< of all processes, and of no case yet
  std::uint64_t dropped = 0;
  std::vector<std::string> notes{};  ///< sentences: what is missing, and why
};

/// A way to watch a program from inside in one pass: a library that its processes load, because of variables
/// in its environment, and which writes a journal in each of them. Registered by its own file.
struct InjectionKind {
  Pass pass = Pass::trace;
  std::string library{};  ///< its file's name
  /// Why it cannot be used here, or nullopt.
  std::function<std::optional<std::string>()> unavailable{};
  /// What the environment must have, beside the folder for the journals.
  std::function<std::map<std::string, std::string>(const std::filesystem::path& library)> variables{};
  std::function<InjectedPass(const std::filesystem::path& folder)> read{};
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

/// Where mprof's library of this name is: beside the program in a build, in lib/mprof of an installation;
/// nullopt when it is in neither.
[[nodiscard]] std::optional<std::filesystem::path> find_injection(const std::string& library);

}  // namespace mprof
