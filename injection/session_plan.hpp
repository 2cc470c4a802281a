// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace mprof::injection {

/// Chooses what is counted at a launch of a kernel, so that no launch is ever run twice. A session counts
/// successive launches of a context, each in a range of its own, and counts them again in each of its passes.
///
/// The first pass takes in what is launched. Each later pass waits until the program comes to the same place
/// again, by the launches that came before it. Then it counts the same kernels. Where the program goes
/// another way, the pass ends, and the kernels after that place have only the earlier passes. Another session
/// tries what one session could not count; in the end a kernel by itself, wherever it is launched.
class SessionPlan {
 public:
  /// A session has at most `most_launches` in a pass, and begins with a kernel that has been launched
  /// `launches_before` times before.
  SessionPlan(std::size_t most_launches, std::uint64_t launches_before)
      : most_launches_(most_launches), launches_before_(launches_before) {}

  /// A kernel more, whose number it returns: from 0. `context`: the CUDA context it runs in, by its handle.
  /// `is_wanted`: it is counted for its own sake, and not where it comes between others alone.
  std::size_t add_kernel(void* context, bool is_wanted);

  /// What to do at the launch of a kernel that is about to begin, in this order.
  struct Choice {
    bool ends_pass = false;       ///< the caller must call passed()
    bool ends_session = false;    ///< the caller must call finish()
    bool begins_session = false;  ///< with the pass that begins
    bool counts = false;          ///< this launch
    bool operator==(const Choice&) const = default;
  };
  [[nodiscard]] Choice at_launch(std::size_t kernel);

  /// The launch that was chosen last was counted. True when the pass is over with it: then the caller must
  /// call passed().
  [[nodiscard]] bool counted();
  /// The pass is over. `was_last`: all passes are through. True when the session is over: then the caller
  /// must call finish().
  [[nodiscard]] bool passed(bool was_last);

  /// A kernel that was counted in a session.
  struct Counted {
    std::size_t kernel = 0;
    std::size_t range = 0;
    std::uint64_t passes = 0;  ///< the first ones
    bool operator==(const Counted&) const = default;
  };
  /// Ends the session, if one goes on, wherever it is. Returns the kernels that it was for, each once.
  /// `is_valid`: CUPTI has counted what the plan chose. Otherwise no kernel is returned, and they are tried
  /// again.
  std::vector<Counted> finish(bool is_valid);

  /// It must not be counted any more, nor be launched in a pass.
  void leave_out(std::size_t kernel);

  [[nodiscard]] bool is_in_session() const { return is_on_; }
  /// Whether a pass has begun, so that whatever is launched now is counted.
  [[nodiscard]] bool is_in_pass() const { return is_on_ && position_ > 0; }
  /// Of the session: its context, and the launches that its first pass had.
  [[nodiscard]] void* context() const { return context_; }
  [[nodiscard]] std::size_t launches() const { return passes_.size(); }
  /// The kernels that it is for.
  [[nodiscard]] std::vector<std::size_t> members() const;

 private:
  enum class State : std::uint8_t { wanted, unwanted, left_out };
  struct Kernel {
    void* context = nullptr;
    State state = State::wanted;
    std::uint64_t launches = 0;
    std::uint64_t last_launch = 0;  ///< by the count of launches of all kernels
    std::uint64_t gap = 0;          ///< launches of all kernels between its last two
    std::uint32_t attempts = 0;
  };

  [[nodiscard]] bool may_begin(const Kernel& kernel) const;
  void begin(std::size_t kernel, const std::vector<std::size_t>& before);
  [[nodiscard]] bool is_at_begin(std::size_t kernel, const std::vector<std::size_t>& before) const;
  void choose_in_pass(std::size_t kernel, const std::vector<std::size_t>& before, Choice& choice);
  void take_in(std::size_t kernel);
  [[nodiscard]] bool is_by_itself() const { return kernels_[sequence_.front()].attempts >= together_; }

  static constexpr std::uint32_t together_ = 2;  ///< attempts at a kernel beside others

  std::size_t most_launches_;
  std::uint64_t launches_before_;
  std::vector<Kernel> kernels_;
  std::uint64_t launches_ = 0;
  std::map<void*, std::vector<std::size_t>> history_;  ///< the last kernels of each context

  bool is_on_ = false;
  void* context_ = nullptr;
  std::vector<std::size_t> lead_;      ///< what was launched before its first launch
  std::vector<std::size_t> sequence_;  ///< what a pass counts; becomes shorter where the program differs
  std::vector<std::uint64_t> passes_;  ///< of each launch of the first pass
  std::vector<std::size_t> taken_;     ///< the first pass's launches
  std::uint64_t done_ = 0;             ///< passes
  bool is_through_ = false;            ///< all passes are
  std::size_t position_ = 0;           ///< in the pass; 0: it has not begun
  std::size_t nothing_new_ = 0;        ///< launches in the first pass since one that is wanted came up
  std::uint64_t waited_ = 0;           ///< launches, for the place where the next pass begins
};

}  // namespace mprof::injection
