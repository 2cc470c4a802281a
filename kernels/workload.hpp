#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/data_paths.hpp"
#include "model/run.hpp"

/// What the runner knows of a workload: three small interfaces. A family implements them; its variants see
/// none of them.
namespace mprof {

/// The three stages of an op. layer_time covers all three, op_time the second.
enum class Stage { prepare, forward, finish };

/// Watches an inference from outside: the runner's timing, a test's script.
class StageObserver {
 public:
  virtual ~StageObserver() = default;
  /// Runs `work`, one stage of `op`. May run a forward stage more than once: forward() must be repeatable.
  virtual void stage(std::string_view op, Stage stage, const std::function<void()>& work) = 0;
};

/// Runs each stage once and watches nothing.
class NoObserver final : public StageObserver {
 public:
  void stage(std::string_view, Stage, const std::function<void()>& work) override { work(); }
};

/// What an inference says of the batch as a whole.
struct InferenceResult {
  double accuracy = 0;         ///< share of images whose predicted class is the labelled one
  double agreement = 0;        ///< share of images predicted as the reference predictions say
  bool has_agreement = false;  ///< whether reference predictions came with the weights
};

struct CheckedResult {
  InferenceResult inference;
  std::vector<Verification> verification;  ///< one an op
};

/// One variant with its parameters, bound to a workload; buffers allocated, nothing computed.
class Execution {
 public:
  virtual ~Execution() = default;
  /// The whole inference of the batch, images in to accuracy out.
  virtual InferenceResult infer(StageObserver& observer) = 0;
  /// The same with each op's output poisoned before and compared with the double-precision reference after.
  virtual CheckedResult check(StageObserver& observer) = 0;
};

/// A family's inputs for one batch, loaded.
class Workload {
 public:
  virtual ~Workload() = default;
  /// Throws Error when the variant cannot be bound with these parameters. The workload must outlive the
  /// execution.
  [[nodiscard]] virtual std::unique_ptr<Execution> bind(const std::string& variant,
                                                        const Parameters& parameters) = 0;
};

/// A workload's definition: what is computed, on what, and how much work that is.
class Family {
 public:
  virtual ~Family() = default;
  [[nodiscard]] virtual std::string_view id() const = 0;
  [[nodiscard]] virtual std::string_view title() const = 0;
  [[nodiscard]] virtual std::vector<std::uint64_t> default_batches(bool quick) const = 0;
  [[nodiscard]] virtual std::uint64_t max_batch() const = 0;
  [[nodiscard]] virtual std::vector<OpInfo> ops(std::uint64_t batch) const = 0;
  /// Throws Error with the file at fault when inputs are missing or corrupt. Cheap enough to call for a check
  /// up front.
  virtual void validate(const DataPaths& data) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Workload> load(std::uint64_t batch, const DataPaths& data) const = 0;
};

}  // namespace mprof
