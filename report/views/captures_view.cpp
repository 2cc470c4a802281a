// SPDX-License-Identifier: MIT
#include <algorithm>

#include "report/text/format.hpp"
#include "report/views/program_parts.hpp"
#include "report/views/table.hpp"
#include "report/wording/graph_captures.hpp"

/// Where the work of a program's CUDA graphs was captured, and where it ran.
namespace mprof {

using nlohmann::json;

json captures_view(const ProgramPicture& picture, const PageContext& page) {
  constexpr std::size_t most = 20;
  constexpr double second_of_ns = 1e-9;
  const GraphCaptures captures = graph_captures(*page.materials->evidence.profile, picture.index);
  if (captures.empty()) return false;
  Table table(page.anchor("program graphs"), captures_caption());
  table.text("Captured in").text("Launched in").numbers("Nodes").numbers("Ran").numbers("GPU", Unit::second);
  const auto count = [](std::uint64_t number) {
    return Cell::figure(format::count(number)).valued(static_cast<double>(number));
  };
  const auto time = [](std::int64_t ns) {
    return Cell::bare(derived_value(static_cast<double>(ns) * second_of_ns));
  };
  CapturedWork rest;
  for (std::size_t i = 0; i < captures.work.size(); ++i) {
    const CapturedWork& work = captures.work[i];
    if (i < most) {
      table.row({Cell::words(captured_in(captures, work)), Cell::words(launched_in(work)), count(work.nodes),
                 count(work.works), time(work.time)});
    } else {
      rest.nodes += work.nodes;
      rest.works += work.works;
      rest.time += work.time;
    }
  }
  if (captures.work.size() > most)
    table.row({Cell::words(fmt::format("{} more", captures.work.size() - most), Tone::quiet), Cell::dash(),
               count(rest.nodes), count(rest.works), time(rest.time)});
  return {{"table", captures.work.empty() ? json(false) : table.view()},
          {"remarks", captures_remarks(captures)}};
}

}  // namespace mprof
