// SPDX-License-Identifier: MIT
#include "cuda/cupti.hpp"

#include <array>
#include <string_view>

#include <cupti_version.h>
#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof::cuda {
namespace {

constexpr unsigned major = CUPTI_API_VERSION / 10000;

std::string_view next_step(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "The driver lets administrators only read hardware counters: run as root, in a container with "
             "--cap-add=SYS_ADMIN, or set NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia.";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "Another profiler holds the hardware counters; if it is DCGM, `dcgmi profile --pause` "
             "releases them.";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "Another tool (ncu, nsys, compute-sanitizer, a debugger) is attached to this process: run mprof "
             "without it.";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "This is a virtual GPU whose host does not allow profiling: allow it in the host's vGPU "
             "settings.";
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_SUPPORTED:
      return "This GPU or its mode (MIG, confidential computing) does not support it.";
    case CUPTI_ERROR_UNKNOWN:
      return "Often there is no usable NVIDIA driver: `mprof doctor` looks.";
    default:
      return "`mprof doctor` shows what this machine lacks.";
  }
}

/// The version as the library has it: 130001 for 13.0.1.
std::optional<std::uint32_t> library_version() {
  using GetVersion = CUptiResult(std::uint32_t*);
  GetVersion* get_version = nullptr;
  cupti_library().import(get_version, "cuptiGetVersion");
  std::uint32_t version = 0;
  if (get_version(&version) != CUPTI_SUCCESS) return std::nullopt;
  return version;
}

std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace

const SharedLibrary& cupti_library() {
  static const SharedLibrary library = [] {
    // CUPTI's profiler opens this one by its plain name; where the loader does not know the folder, it must
    // be there already.
    static const SharedLibrary performance(toolkit_paths("libnvperf_host.so"));
    return SharedLibrary(toolkit_paths(fmt::format("libcupti.so.{}", major)));
  }();
  return library;
}

std::optional<std::string> cupti_unavailable() {
  const SharedLibrary& library = cupti_library();
  if (!library.loaded()) {
    return fmt::format(
        "CUPTI was not found ({}). Install the CUDA toolkit's CUPTI, or add its folder to LD_LIBRARY_PATH.",
        library.error());
  }
  const std::optional<std::uint32_t> version = library_version();
  if (!version) return "CUPTI does not say its version.";
  if (*version / 100 != CUPTI_API_VERSION / 100) {
    return fmt::format(
        "{} is CUPTI {}, and this build of mprof knows the records of {}: install that one's CUDA toolkit, "
        "or build mprof with the one that is here.",
        library.path(), version_text(*version), version_text(CUPTI_API_VERSION));
  }
  return std::nullopt;
}

std::string cupti_version() {
  return version_text(library_version().value_or(0));
}

CUpti_SubscriberHandle subscribe(CUpti_CallbackFunc callback, void* user) {
  decltype(::cuptiSubscribe_v2)* function = nullptr;
  cupti_library().import(function, "cuptiSubscribe_v2");
  std::array<char, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> other_tool{};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "mprof";
  params.oldSubscriberName = other_tool.data();
  params.oldSubscriberSize = other_tool.size();
  CUpti_SubscriberHandle subscriber = nullptr;
  const CUptiResult result = function(&subscriber, callback, user, &params);
  if (result == CUPTI_SUCCESS) return subscriber;
  const std::string_view other = other_tool.data();
  const std::string attached =
      other.empty() ? "" : fmt::format("\"{}\" is attached to this process. ", other);
  throw Error(ExitCode::environment, attached + describe(result));
}

std::string describe(CUptiResult result) {
  using GetString = CUptiResult(CUptiResult, const char**);
  GetString* get_string = nullptr;
  GetString* get_message = nullptr;
  cupti_library().import(get_string, "cuptiGetResultString");
  cupti_library().import(get_message, "cuptiGetErrorMessage");
  const char* name = nullptr;
  const char* message = nullptr;
  get_string(result, &name);
  get_message(result, &message);
  const std::string_view named = name != nullptr ? name : "CUPTI error";
  const std::string_view said = message != nullptr ? message : "";
  // Where CUPTI has no text for an error, its message is the name once more.
  if (said.empty() || said == named)
    return fmt::format("{} ({}). {}", named, static_cast<int>(result), next_step(result));
  return fmt::format("{} ({}): {} {}", named, static_cast<int>(result), said, next_step(result));
}

void check(CUptiResult result, const char* file, int line) {
  if (result == CUPTI_SUCCESS) return;
  throw Error(ExitCode::environment, fmt::format("{}:{}: {}", file, line, describe(result)));
}

}  // namespace mprof::cuda
