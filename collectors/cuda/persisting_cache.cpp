// SPDX-License-Identifier: MIT
#include "cuda/persisting_cache.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "collectors/collector.hpp"

namespace mprof {
namespace {

/// Finds a variant suspect that keeps data in the L2 cache from one execution to the next.
class PersistingCache final : public Collector {
 public:
  void begin_sample() override {}
  void end_sample() override {}
  void end_stage(std::string_view op, Stage /*stage*/) override {
    if (bytes_ != 0) return;
    bytes_ = cuda::persisting_cache();
    op_ = op;
  }

  [[nodiscard]] std::optional<std::string> suspicion() const override {
    if (bytes_ == 0) return std::nullopt;
    return fmt::format(
        "{} sets {} bytes of the L2 cache aside for data that stays there, but op times must begin with a "
        "cold cache",
        op_, bytes_);
  }

  void finish(std::vector<Measurement>& /*measurements*/) override {}

 private:
  std::size_t bytes_ = 0;
  std::string op_;
};

const bool registered = (CollectorKinds::instance().add({
                             "persisting_cache",
                             Pass::timing,
                             "cuda",
                             7,
                             [] { return std::nullopt; },
                             [](const CaseContext&) { return std::make_unique<PersistingCache>(); },
                         }),
                         true);

}  // namespace
}  // namespace mprof
