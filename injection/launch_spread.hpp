#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mprof::injection {

/// Chooses what is counted at a launch of a kernel, so that no launch is ever run twice: each kernel's groups
/// of metrics are spread over its successive launches, one pass at each. Groups of one pass come first, in
/// their order, of all kernels side by side. A group of several passes occupies the profiler from its first
/// pass to its last; it begins once no other kernel that is launched in between has a group of one pass left,
/// and is given up when its kernel is not launched any more.
class LaunchSpread {
 public:
  /// What is counted at a launch.
  struct Choice {
    std::size_t group = 0;
    bool is_first_pass = true;
    bool operator==(const Choice&) const = default;
  };

  /// `passes`: of each group.
  explicit LaunchSpread(std::vector<std::uint32_t> passes) : passes_(std::move(passes)) {}

  /// A kernel more, whose number it returns: from 0. `only_single_passes`: its launches take different times,
  /// so that passes of several do not fit together.
  std::size_t add_kernel(bool only_single_passes);

  /// What to count at the launch of a kernel that is about to begin; nullopt: nothing.
  [[nodiscard]] std::optional<Choice> at_launch(std::size_t kernel);

  /// The pass that was chosen last was counted; `completes`: it was its group's last.
  void counted(std::size_t kernel, const Choice& choice, bool completes);
  /// It was not; the group is not tried again for this kernel.
  void refused(std::size_t kernel, const Choice& choice);
  /// Nothing more of this kernel is counted.
  void leave_out(std::size_t kernel);

  /// Launches that a kernel needs until nothing is left to count of it.
  [[nodiscard]] std::uint32_t launches_needed(bool only_single_passes) const;

 private:
  enum class State : std::uint8_t { open, closed };
  struct Kernel {
    std::vector<State> groups;
    std::uint64_t last_launch = 0;  ///< by the count of launches of all kernels
    std::uint32_t attempts = 0;     ///< at groups of several passes that were given up
  };
  /// Who has the profiler for a group of several passes.
  struct Holder {
    std::size_t kernel = 0;
    std::size_t group = 0;
  };

  [[nodiscard]] std::optional<std::size_t> open_group(const Kernel& kernel, bool single) const;
  void give_up_holder();

  std::vector<std::uint32_t> passes_;
  std::vector<Kernel> kernels_;
  std::optional<Holder> holder_;
  std::uint64_t launches_ = 0;
  std::uint64_t last_single_ = 0;  ///< the last launch of a kernel that had a group of one pass left
};

}  // namespace mprof::injection
