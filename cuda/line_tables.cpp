// SPDX-License-Identifier: MIT
#include "cuda/line_tables.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>

#include <cupti.h>
#include <cupti_pcsampling.h>

#include "cuda/cupti.hpp"

namespace mprof::cuda {
namespace {

constexpr std::string_view reason_prefix = "smsp__pcsamp_warps_issue_stalled_", idle_suffix = "_not_issued";

struct LineFunctions {
  decltype(::cuptiGetCubinCrc)* checksum = nullptr;
  decltype(::cuptiGetSassToSourceCorrelation)* place = nullptr;

  LineFunctions() {
    const SharedLibrary& library = cupti_library();
    library.import(checksum, "cuptiGetCubinCrc");
    library.import(place, "cuptiGetSassToSourceCorrelation");
  }
};

const LineFunctions& functions() {
  static const LineFunctions all;
  return all;
}

/// A path of the machine that compiled says nothing to anybody else.
std::string file_name(const std::string& folder, const std::string& file) {
  const std::filesystem::path whole = (std::filesystem::path(folder) / file).lexically_normal();
  const std::filesystem::path below = whole.lexically_relative(MPROF_SOURCE_ROOT);
  const bool is_own = !below.empty() && *below.begin() != "..";
  return (is_own ? below : whole.filename()).generic_string();
}

}  // namespace

void LineTables::add(std::string_view cubin) {
  CUpti_GetCubinCrcParams params{};
  params.size = CUpti_GetCubinCrcParamsSize;
  params.cubin = cubin.data();
  params.cubinSize = cubin.size();
  if (functions().checksum(&params) == CUPTI_SUCCESS)
    code_[params.cubinCrc].assign(cubin.begin(), cubin.end());
}

SourcePlace LineTables::place_of(std::uint64_t checksum, const char* function, std::uint64_t offset) const {
  const auto code = code_.find(checksum);
  if (code == code_.end()) return {};
  CUpti_GetSassToSourceCorrelationParams params{};
  params.size = CUpti_GetSassToSourceCorrelationParamsSize;
  params.cubin = code->second.data();
  params.cubinSize = code->second.size();
  params.functionName = function;
  params.pcOffset = offset;
  const CUptiResult result = functions().place(&params);
  const std::unique_ptr<char, decltype(&std::free)> file(params.fileName, &std::free);
  const std::unique_ptr<char, decltype(&std::free)> folder(params.dirName, &std::free);
  if (result != CUPTI_SUCCESS || file == nullptr || params.lineNumber == 0) return {};
  return {file_name(folder == nullptr ? "" : folder.get(), file.get()), params.lineNumber};
}

std::optional<std::string> stall_reason(std::string_view metric) {
  if (!metric.starts_with(reason_prefix) || metric.ends_with(idle_suffix)) return std::nullopt;
  return std::string(metric.substr(reason_prefix.size()));
}

}  // namespace mprof::cuda
