// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/trace/id_map.hpp"
#include "model/trace/trace.hpp"

namespace mprof::trace {

/// Work of the GPU with the call that launched it: a kernel, a graph, a copy or a memset.
struct LaunchedWork {
  enum class What : std::uint8_t { kernel, graph, transfer };
  Interval time{};
  Interval call{};          ///< where it is not known, the moment at which the work began
  std::int64_t thread = 0;  ///< of the call; 0: not known
  What what = What::kernel;
  std::uint32_t row = 0;  ///< its place in Trace::kernels, graphs or transfers
};

/// All work of a case with its calls. Of a runtime call and a driver call with the same id, the one that
/// began first counts.
class LaunchedWorks {
 public:
  LaunchedWorks(const Trace& trace, CaseIndex index);

  /// Calls visit(LaunchedWork) for each: kernels, then graphs, then copies and memsets, as the trace has
  /// them.
  template <class Visit>
  void each(const Visit& visit) {
    each_kernel(visit);
    const auto each_of = [&](const auto& rows, LaunchedWork::What what) {
      for (const auto& row : of_case(rows, index_))
        visit(
            work(what, static_cast<std::size_t>(&row - rows.data()), row.time, row.process, row.correlation));
    };
    each_of(trace_.graphs, LaunchedWork::What::graph);
    each_of(trace_.transfers, LaunchedWork::What::transfer);
  }
  template <class Visit>
  void each_kernel(const Visit& visit) {
    const auto& rows = trace_.kernels.rows();
    for (const KernelRow& row : of_case(rows, index_))
      visit(work(LaunchedWork::What::kernel, static_cast<std::size_t>(&row - rows.data()), row.time,
                 trace_.kernels.shared(row).process, trace_.kernels.correlation(row)));
  }

 private:
  LaunchedWork work(LaunchedWork::What what, std::size_t row, const Interval& time, std::int64_t process,
                    std::int64_t correlation);

  const Trace& trace_;
  CaseIndex index_;
  std::span<const Call> calls_;
  IdMap places_;  ///< among the calls, from 1; correlation ids are unique within a process
};

}  // namespace mprof::trace
