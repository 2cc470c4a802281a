#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace mprof::injection {

/// Chooses what is counted at a launch of a kernel, so that no launch is ever run twice. A session counts
/// several kernels of one context side by side: its first pass takes in those that are launched time and
/// again, until each of them has come back with no new one beside; every pass counts one launch of each, a
/// range each, and lets all others go by. What does not come back is left out of the session, and tried once
/// more in a later one.
class SessionPlan {
 public:
  /// A session has at most `most_kernels`, each of which has been launched `launches_before` times before.
  SessionPlan(std::size_t most_kernels, std::uint64_t launches_before)
      : most_kernels_(most_kernels), launches_before_(launches_before) {}

  /// A kernel more, whose number it returns: from 0. `context`: any name of the CUDA context it runs in.
  std::size_t add_kernel(std::uintptr_t context);

  /// What to do at the launch of a kernel that is about to begin, in this order.
  struct Choice {
    bool ends_pass = false;       ///< the one that goes on: passed() is to be called
    bool begins_session = false;  ///< with the pass that begins
    bool counts = false;          ///< this launch
    bool operator==(const Choice&) const = default;
  };
  [[nodiscard]] Choice at_launch(std::size_t kernel);

  /// The launch that was chosen last was counted. Whether the pass is over with it: passed() is to be called.
  [[nodiscard]] bool counted(std::size_t kernel);
  /// The pass is over. `was_last`: all passes are through. Whether the session is over: finish() is to be
  /// called.
  [[nodiscard]] bool passed(bool was_last);

  /// A kernel that was counted in a session.
  struct Counted {
    std::size_t kernel = 0;
    std::uint64_t passes = 0;  ///< in the first ones, or in all but those in which it was not launched
  };
  /// Ends the session, if one goes on, wherever it is: what it has counted.
  std::vector<Counted> finish();

  /// Nothing more of this kernel is counted.
  void leave_out(std::size_t kernel);

  [[nodiscard]] bool is_in_session() const { return is_on_; }
  [[nodiscard]] const std::set<std::size_t>& members() const { return members_; }
  /// Of the session.
  [[nodiscard]] std::uintptr_t context() const { return context_; }

 private:
  enum class State : std::uint8_t { waiting, counted, left_out };
  struct Kernel {
    std::uintptr_t context = 0;
    State state = State::waiting;
    std::uint64_t launches = 0;
    std::uint32_t attempts = 0;
    std::uint64_t passes = 0;      ///< of the session
    bool is_of_this_pass = false;  ///< has been counted in it
    bool came_back = false;        ///< since the first pass last took one in
  };

  [[nodiscard]] bool is_wanted(const Kernel& kernel) const;
  void take_in(std::size_t kernel);
  void came_back(Kernel& kernel);
  /// Whether the pass that goes on has seen, or waited for, enough.
  [[nodiscard]] bool is_enough() const;
  void drop(std::size_t kernel);

  std::size_t most_kernels_;
  std::uint64_t launches_before_;
  std::vector<Kernel> kernels_;

  bool is_on_ = false;
  std::uintptr_t context_ = 0;
  std::set<std::size_t> members_;       ///< that no pass has missed
  std::vector<std::size_t> took_part_;  ///< members, and those that were dropped
  std::size_t back_ = 0;                ///< members that came back
  std::size_t seen_ = 0;                ///< members that have been counted in the pass
  bool is_first_pass_ = false;
  std::uint64_t launches_ = 0;       ///< of all kernels, in the pass
  std::uint64_t last_taken_in_ = 0;  ///< by that count
  std::uint64_t length_ = 0;         ///< of the first pass, in launches
};

}  // namespace mprof::injection
