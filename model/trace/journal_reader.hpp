// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace/journal.hpp"
#include "model/trace/nvtx_payload.hpp"
#include "model/trace/trace.hpp"

namespace mprof::journal {

/// What a journal holds. A last entry that was not written whole is left out.
struct Journal {
  Head head{};
  std::string name{};  ///< of the process
  std::optional<Rank> rank{};
  std::unordered_map<std::uint64_t, std::string> texts{};
  std::vector<std::string> records{};                                      ///< the bytes of each
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> calls{};  ///< names by is_driver and id
  std::vector<Range> ranges{};
  std::vector<Kernel> kernels{};
  std::map<std::uint64_t, std::string> counts{};  ///< counter data by their numbers
  std::vector<Counted> counted{};
  std::map<std::uint64_t, Launches> launches{};                ///< by kernel
  std::vector<std::pair<Uncounted, std::string>> uncounted{};  ///< with the reason
  std::vector<std::uint64_t> stopped{};                        ///< kernels
  std::vector<launch_log::Launch> launched{};                  ///< the last ones, in their order
  std::vector<launch_log::Launch> failed{};                    ///< that CUDA refused
  std::map<std::pair<std::uint64_t, std::uint64_t>, trace::PayloadSchema> schemas{};  ///< by domain and id
  std::vector<std::pair<Payload, std::string>> payloads{};                            ///< with their bytes
  std::vector<GraphNode> graph_nodes{};
  std::vector<WindowEdge> window_edges{};
  std::map<std::uint32_t, std::string> stalls{};  ///< CUPTI's names of their metrics
  std::vector<std::pair<SampledPlace, std::vector<StallCount>>> sampled{};
  std::map<std::uint64_t, std::vector<StackFrame>> stacks{};
  std::vector<StackOfLaunch> stacks_of_launches{};
  Beginning beginning{};
  std::uint64_t dropped = 0;
  std::vector<std::string> notes{};
  std::int64_t until = 0;  ///< ns since 1970; 0: nothing was flushed
  bool has_ended = false;  ///< by itself
};

/// When the window of a process was open; nullopt: it has none, or never opened.
[[nodiscard]] std::optional<trace::Interval> opened_window(const Journal& journal);

/// Throws Error(usage) for a file that is no journal of this version.
[[nodiscard]] Journal read_journal(const std::filesystem::path& file);

/// The journals of a folder, in the order of their names.
[[nodiscard]] std::vector<Journal> read_journals(const std::filesystem::path& folder);

}  // namespace mprof::journal
