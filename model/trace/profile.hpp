#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/trace/trace.hpp"

/// The rows of a trace that tables of a profile are made from, of many cases at once. It comes from mprof's
/// trace.sqlite or from an export of Nsight Systems, of whatever version: a table or a column that is missing
/// there is missing here.
namespace mprof::trace {

/// An index into Profile::names.
using NameIndex = std::uint32_t;
/// An index into Profile::cases.
using CaseIndex = std::uint32_t;
/// The case of rows in a file that knows no cases.
inline constexpr CaseIndex no_case = std::numeric_limits<CaseIndex>::max();

struct ProfiledCase {
  std::string id{};
  Counts counts{};
};

/// Where work ran on a GPU.
struct Queue {
  std::int64_t device = 0;
  std::int64_t context = 0;
  std::int64_t stream = 0;
};

struct ProfiledKernel {
  Interval time{};
  std::int64_t correlation = 0;
  std::int64_t process = 0;  ///< globalPid
  NameIndex name = 0;        ///< demangled, with parameters
  CaseIndex in_case = no_case;
  std::optional<std::array<std::int32_t, 3>> grid{};
  std::optional<std::array<std::int32_t, 3>> block{};
  std::optional<std::uint32_t> registers_per_thread{};
  std::optional<std::uint32_t> static_shared_memory{};   ///< B
  std::optional<std::uint32_t> dynamic_shared_memory{};  ///< B
  Queue queue{};
};

/// A copy, or a memset, whose memory nsys calls its source.
struct ProfiledTransfer {
  Interval time{};
  std::int64_t correlation = 0;
  std::uint64_t bytes = 0;
  NameIndex operation = 0;  ///< "[CUDA memcpy Host-to-Device]", "[CUDA memset]"
  NameIndex source = 0;     ///< "Pageable", ...; empty when not known
  NameIndex destination = 0;
  CaseIndex in_case = no_case;
  Queue queue{};
};

/// A call on a host thread: of CUDA, or of the operating system.
struct ProfiledCall {
  Interval time{};
  std::int64_t correlation = 0;
  std::int64_t thread = 0;  ///< globalTid
  NameIndex name = 0;       ///< without the version of four digits that CUPTI adds, as nsys prints it
  CaseIndex in_case = no_case;
  Api api = Api::runtime;
  std::optional<std::uint32_t> result{};  ///< the cudaError_t or CUresult
};

enum class RangeStyle : std::uint8_t { push_pop, start_end };

/// An NVTX range that has ended.
struct ProfiledRange {
  Interval time{};
  std::int64_t thread = 0;  ///< globalTid
  NameIndex name = 0;       ///< domain:text; the default domain has no name
  CaseIndex in_case = no_case;
  RangeStyle style = RangeStyle::push_pop;
};

/// The op and the part of it that everything with a correlation id belongs to, as mprof attributed it.
struct Attribution {
  std::int64_t correlation = 0;
  NameIndex op = 0;
  NameIndex part = 0;
};

/// What to read: the rest of a Profile stays empty.
struct ProfileParts {
  bool kernels = false;
  bool transfers = false;
  bool calls = false;
  bool system_calls = false;
  bool ranges = false;
  bool attributions = false;

  ProfileParts& operator|=(const ProfileParts& other);
};
inline constexpr ProfileParts all_parts{true, true, true, true, true, false};

struct ProfileQuery {
  ProfileParts parts = all_parts;
  std::vector<std::string> cases{};  ///< empty: everything in the file
  /// Also what mprof itself does between two ops to make them comparable, such as flushing the caches. It is
  /// no work of any variant.
  bool with_pauses = false;
};

/// The rows of each kind stand case by case, and within a case in the order of the file.
struct Profile {
  std::vector<std::string> names{std::string()};
  std::vector<ProfiledCase> cases{};  ///< in the order of the file
  std::vector<ProfiledKernel> kernels{};
  std::vector<ProfiledTransfer> transfers{};
  std::vector<ProfiledCall> calls{};
  std::vector<ProfiledCall> system_calls{};
  std::vector<ProfiledRange> ranges{};
  std::vector<Attribution> attributions{};               ///< by correlation id
  std::unordered_map<std::int64_t, std::string> gpus{};  ///< names by the number that CUDA gives them

  /// nullopt when the file has no such case.
  [[nodiscard]] std::optional<CaseIndex> find_case(const std::string& id) const;
  /// nullptr when it was not attributed, or attributions were not read.
  [[nodiscard]] const Attribution* find_attribution(std::int64_t correlation) const;
};

/// Throws Error(usage) when the file is no trace, or has no case of that name.
[[nodiscard]] Profile read_profile(const std::filesystem::path& file, const ProfileQuery& query = {});

/// The ids of the cases in a file, in its order; none in an export of Nsight Systems. Throws like
/// read_profile().
[[nodiscard]] std::vector<std::string> profiled_cases(const std::filesystem::path& file);

}  // namespace mprof::trace
