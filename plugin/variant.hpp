// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <mprof/plugin.h>

/// The C boundary as C++ classes. A variant includes its family's header, <mprof/FAMILY.hpp>, which includes
/// this one, and ends with one MPROF_VARIANT.
namespace mprof::plugin {

/// One of the variant's own parameters.
struct Parameter {
  const char* name;
  const char* meaning;
  const char* default_value;
  std::vector<const char*> values;  ///< all that are allowed, the default among them
};

/// The value of each declared parameter, by its name.
using Parameters = std::map<std::string, std::string>;

/// Sizes by their names.
class Sizes {
 public:
  Sizes(const mprof_size* sizes, std::size_t count) : sizes_(sizes), count_(count) {}

  /// Throws where the family has none of this name.
  [[nodiscard]] std::size_t size(std::string_view name) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (name == sizes_[i].name) return sizes_[i].value;
    }
    throw std::invalid_argument("this family has no size called " + std::string(name));
  }

 private:
  const mprof_size* sizes_;
  std::size_t count_;
};

/// The sizes and the arrays of one op, as prepare() is given them.
class Task : public Sizes {
 public:
  explicit Task(const mprof_task& task) : Sizes(task.sizes, task.size_count), task_(task) {}

  [[nodiscard]] const float* input(std::size_t index) const { return task_.inputs[index]; }
  /// Of an input whose type is MPROF_INT32.
  [[nodiscard]] const std::int32_t* integers(std::size_t index) const {
    return reinterpret_cast<const std::int32_t*>(task_.inputs[index]);
  }
  [[nodiscard]] std::size_t inputs() const { return task_.input_count; }
  [[nodiscard]] std::size_t input_elements(std::size_t index) const { return task_.input_elements[index]; }
  [[nodiscard]] float* output() const { return task_.output; }
  [[nodiscard]] std::size_t output_elements() const { return task_.output_elements; }

 private:
  mprof_task task_;
};

/// What computes one op, as long as a process lives. The three stages run in turn, any number of times. What
/// they throw makes the case fail, with the message as the reason.
class Op {
 public:
  virtual ~Op() = default;
  /// Allocates, and brings the inputs to where forward() reads them. All pointers are to host memory.
  virtual void prepare(const Task& task) = 0;
  /// Computes; what is timed. May be called several times, and leaves the same output each time.
  virtual void forward() = 0;
  /// Brings the result to the task's output, and frees what prepare() allocated.
  virtual void finish() = 0;
  /// Fills the place that forward() writes to, where that is not the task's output itself.
  virtual void poison_output(std::uint32_t pattern) { static_cast<void>(pattern); }
};

/// An op that reads and writes the host's memory in place: a variant has forward() alone.
class HostOp : public Op {
 public:
  void prepare(const Task& task) override { task_ = std::make_unique<Task>(task); }
  void finish() override {}

 protected:
  [[nodiscard]] const Task& task() const { return *task_; }

 private:
  std::unique_ptr<Task> task_;
};

/// What a variant says of itself.
struct Declaration {
  const char* family = "";
  const char* title = "";     ///< a few words
  const char* idea = "";      ///< a sentence or two
  const char* device = "";    ///< "cpu" or "cuda"
  const char* baseline = "";  ///< id of the variant that it improves on; empty: it is the baseline
  std::vector<Parameter> parameters{};
  /// Relative L2 error of an item of the output that counts as right, at most 0.01; 0: the family's.
  double tolerance = 0;
  /// Share of an op's FLOPs that its algorithm needs, where that is less than all; 0: all.
  double arithmetic = 0;
  std::uint32_t flags = 0;  ///< MPROF_AT_ODD_SIZES
  /// Why values of the parameters cannot go together, such as a tile that does not fit; empty: they can.
  std::function<std::string(const Parameters& parameters)> impossible{};
  std::function<std::unique_ptr<Op>(const Parameters& parameters)> make{};
};

namespace detail {

/// Runs `work`; what it throws becomes a text.
template <class Work>
mprof_failure guarded(Work work) noexcept {
  static thread_local std::string failure;
  try {
    work();
    return nullptr;
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "it threw what is no std::exception";
  }
  if (failure.empty()) failure = "it failed, and does not say why";
  return failure.c_str();
}

inline Declaration& declaration() {
  static Declaration declared;
  return declared;
}

inline Parameters parameters_of(const mprof_setting* settings, std::size_t count) {
  Parameters parameters;
  for (std::size_t i = 0; i < count; ++i) parameters[settings[i].name] = settings[i].value;
  return parameters;
}

inline mprof_failure create(const mprof_setting* settings, std::size_t count, void** op) {
  return guarded([&] { *op = declaration().make(parameters_of(settings, count)).release(); });
}
/// A failure to say it is as good a reason.
inline mprof_failure impossible(const mprof_setting* settings, std::size_t count) {
  static thread_local std::string reason;
  reason.clear();
  const mprof_failure failure = guarded([&] {
    if (declaration().impossible) reason = declaration().impossible(parameters_of(settings, count));
  });
  if (failure != nullptr) return failure;
  return reason.empty() ? nullptr : reason.c_str();
}
inline mprof_failure prepare(void* op, const mprof_task* task) {
  return guarded([&] { static_cast<Op*>(op)->prepare(Task(*task)); });
}
inline mprof_failure forward(void* op) {
  return guarded([&] { static_cast<Op*>(op)->forward(); });
}
inline mprof_failure finish(void* op) {
  return guarded([&] { static_cast<Op*>(op)->finish(); });
}
inline mprof_failure poison_output(void* op, std::uint32_t pattern) {
  return guarded([&] { static_cast<Op*>(op)->poison_output(pattern); });
}
inline void destroy(void* op) {
  delete static_cast<Op*>(op);
}

}  // namespace detail

/// `declared` as the boundary has it.
inline const mprof_variant* declare(Declaration declared) {
  static std::vector<mprof_parameter> parameters;
  static mprof_variant variant;
  Declaration& kept = detail::declaration();
  kept = std::move(declared);
  parameters.clear();
  for (const Parameter& p : kept.parameters)
    parameters.push_back({p.name, p.meaning, p.default_value, p.values.data(), p.values.size()});
  variant = {kept.family,       kept.title,        kept.idea,       kept.device,     kept.baseline,
             parameters.data(), parameters.size(), kept.tolerance,  kept.arithmetic, kept.flags,
             detail::create,    detail::prepare,   detail::forward, detail::finish,  detail::poison_output,
             detail::destroy};
  return &variant;
}

}  // namespace mprof::plugin

/// Makes the library a plug-in with this mprof::plugin::Declaration.
#define MPROF_PLUGIN(...)                                                                     \
  extern "C" __attribute__((visibility("default"))) std::uint32_t mprof_abi_version(void) {   \
    return MPROF_ABI_VERSION;                                                                 \
  }                                                                                           \
  extern "C" __attribute__((visibility("default"))) const mprof_variant* mprof_plugin(void) { \
    return mprof::plugin::declare(__VA_ARGS__);                                               \
  }                                                                                           \
  extern "C" __attribute__((visibility("default"))) const char* mprof_impossible(             \
      const mprof_setting* settings, std::size_t count) {                                     \
    return mprof::plugin::detail::impossible(settings, count);                                \
  }

/// The last lines of a variant: its declaration, with the names of the fields.
#define MPROF_VARIANT(...) MPROF_PLUGIN(mprof::plugin::Declaration{__VA_ARGS__})
