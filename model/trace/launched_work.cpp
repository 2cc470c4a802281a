// SPDX-License-Identifier: MIT
#include "model/trace/launched_work.hpp"

#include <algorithm>
#include <span>

#include "model/trace/id_map.hpp"
#include "model/trace/nsys_schema.hpp"

namespace mprof::trace {

std::vector<LaunchedWork> launched_work(const Trace& of, CaseIndex index) {
  // Correlation ids are unique within a process.
  IdMap places;
  const std::span<const Call> calls = of_case(of.calls, index);
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (calls[i].correlation == 0) continue;  // of no call in particular
    std::uint32_t& place = places(nsys::process_of(calls[i].thread), calls[i].correlation);
    if (place == 0 || calls[i].time.start < calls[place - 1].time.start) place = i + 1;
  }
  std::vector<LaunchedWork> all;
  const auto add = [&](const Interval& time, std::int64_t process, std::int64_t correlation,
                       LaunchedWork::What what, std::size_t row) {
    LaunchedWork work{.time = time, .call = {time.start, time.start}, .what = what};
    work.row = static_cast<std::uint32_t>(row);
    const std::uint32_t place = places.find(nsys::process_of(process), correlation);
    if (place != 0) {
      work.call = calls[place - 1].time;
      work.thread = calls[place - 1].thread;
    }
    all.push_back(work);
  };
  const std::span<const KernelRow> kernels = of_case(of.kernels.rows(), index);
  const auto first = static_cast<std::size_t>(kernels.data() - of.kernels.rows().data());
  for (std::size_t i = 0; i < kernels.size(); ++i)
    add(kernels[i].time, of.kernels.shared(kernels[i]).process, of.kernels.correlation(kernels[i]),
        LaunchedWork::What::kernel, first + i);
  const auto add_all = [&](const auto& rows, LaunchedWork::What what) {
    for (const auto& row : of_case(rows, index))
      add(row.time, row.process, row.correlation, what, static_cast<std::size_t>(&row - rows.data()));
  };
  add_all(of.graphs, LaunchedWork::What::graph);
  add_all(of.transfers, LaunchedWork::What::transfer);
  std::ranges::stable_sort(all, {}, [](const LaunchedWork& work) { return work.call.start; });
  return all;
}

}  // namespace mprof::trace
