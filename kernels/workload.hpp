// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/stage.hpp"
#include "model/family.hpp"
#include "model/run.hpp"

/// What the runner knows of a workload: three small interfaces. A family implements them; its variants see
/// none of them.
namespace mprof {

/// A quality of the whole by its metric, which FamilyInfo::qualities describes.
struct QualityValue {
  std::string metric{};
  double value = 0;
};

/// What an execution is to show of its ops' outputs.
enum class Proof {
  none,
  all_items,   ///< each item is compared with the double-precision reference; what is right is kept
  as_before,   ///< each item is compared with what was kept then: as sure, and as fast as memory
  some_items,  ///< some items, drawn at random, are compared with the double-precision reference
};

/// How to run an execution so that no output but its own is right.
struct Trial {
  Proof proof = Proof::none;
  std::size_t turn = 0;    ///< which of the orders that the inputs' items can have: below Execution::turns()
  bool unseen = false;     ///< with inputs drawn at random, which nobody has seen; none is kept of them
  std::uint64_t seed = 0;  ///< of what is drawn
  /// What was shown of the same ops in another process. An output must be as precise. Of all_items: one of
  /// the same bits is as right, and is not compared as a whole once more.
  std::span<const Verification> verified{};
  /// Of the items that are drawn to be compared, where whoever made the output knows `seed`.
  std::optional<std::uint64_t> items_seed{};
  /// Is given each op's output when it is there; empty: nobody wants it.
  std::function<void(std::string_view op, std::span<const float> output)> on_output{};
};

/// The output of each op that another process computed, by the op's name: values, or nothing of that name.
using Outputs = std::function<std::span<const float>(std::string_view op)>;

struct ExecutionResult {
  std::vector<QualityValue> qualities{};     ///< none of unseen inputs
  std::vector<Verification> verification{};  ///< one an op, unless nothing was to be shown
};

/// One variant with its parameters, bound to a workload; buffers allocated, nothing computed.
class Execution {
 public:
  virtual ~Execution() = default;
  /// The whole, from input to output, each op's output poisoned before. Gives the family's qualities that
  /// this workload has: the same ones each time.
  virtual ExecutionResult run(StageObserver& observer, const Trial& trial) = 0;
  /// In how many orders run() can be given the items of its inputs; 1: they cannot be turned.
  [[nodiscard]] virtual std::size_t turns() const = 0;
  /// Whether the inputs are what they were when they were loaded.
  [[nodiscard]] virtual bool has_its_inputs() const = 0;
};

/// A family's inputs for one problem, loaded.
class Workload {
 public:
  virtual ~Workload() = default;
  /// Throws Error when the variant cannot be bound with these parameters. The workload must outlive the
  /// execution.
  [[nodiscard]] virtual std::unique_ptr<Execution> bind(const std::string& variant,
                                                        const Parameters& parameters) = 0;
  /// An execution that computes nothing: its outputs are these, so that this process can verify what another
  /// one computed from the same inputs. What is missing or has another size stays poisoned. nullptr: the
  /// family cannot. `outputs` is asked whenever it runs.
  [[nodiscard]] virtual std::unique_ptr<Execution> replay(const Outputs& /*outputs*/) { return nullptr; }
};

/// A file or a folder that a family reads.
struct InputInfo {
  std::string name{};        ///< also the option's: --data; and MPROF_DATA's
  std::string value_name{};  ///< "DIR" or "FILE", as help writes it
  std::string meaning{};     ///< what it holds, as help begins a sentence with it
  /// Where it is looked for, unless the user says where it is: the first that exists, otherwise the first.
  /// Relative ones are relative to the folder of the program.
  std::vector<std::filesystem::path> places{};
  /// A file that must be in a folder for this to count as existing; empty: the place itself must.
  std::filesystem::path file{};
};

/// Where each input is, by its name.
using InputPaths = std::map<std::string, std::string>;

class Plugin;

/// What makes a plug-in of a source that was written for another program: lines before and behind it.
struct SourceFrame {
  std::string before{};
  std::string behind{};
};

/// A workload's definition: what is computed, on what, and how much work that is.
class Family {
 public:
  virtual ~Family() = default;
  /// Everything but the problems, which a plan chooses.
  [[nodiscard]] virtual const FamilyInfo& info() const = 0;
  /// What is run where the user names no problem; `quick`: what takes seconds.
  [[nodiscard]] virtual std::vector<Problem> default_problems(bool quick) const = 0;
  [[nodiscard]] virtual std::vector<OpInfo> ops(const Problem& problem) const = 0;
  [[nodiscard]] virtual std::vector<InputInfo> inputs() const { return {}; }
  /// The files that load() reads, with their inputs' names. Throws Error with the file at fault when inputs
  /// are missing or corrupt. Cheap enough to call for a check up front.
  [[nodiscard]] virtual std::vector<InputFile> validate(const InputPaths& /*inputs*/) const { return {}; }
  [[nodiscard]] virtual std::unique_ptr<Workload> load(const Problem& problem,
                                                       const InputPaths& inputs) const = 0;

  /// Lets bind() know a variant that a library declares. Throws Error(usage) where the family takes none.
  virtual void adopt(const std::string& id, const std::shared_ptr<const Plugin>& plugin) const;
  /// How a source of another program's shape becomes a plug-in of this family; nullopt where the family does
  /// not know the shape.
  [[nodiscard]] virtual std::optional<SourceFrame> frame_of(std::string_view /*source*/) const {
    return std::nullopt;
  }
};

}  // namespace mprof
