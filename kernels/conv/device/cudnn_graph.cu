// SPDX-License-Identifier: MIT
#if __has_include(<cudnn.h>)

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "kernels/conv/device/cudnn_engines.hpp"

namespace mprof::conv::cudnn {
namespace {

/// A descriptor of the graph interface, whose meaning is in its attributes. The first status that is none of
/// success stays, and nothing is called after it: that cuDNN cannot do something is an answer here.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type)
      : status_(functions().create_descriptor(type, &descriptor_)) {}
  ~Descriptor() {
    if (descriptor_ != nullptr) functions().destroy_descriptor(descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, nullptr)), status_(other.status_) {}
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  template <class T, std::size_t count>
  Descriptor& set_each(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       const std::array<T, count>& values) {
    if (is_good()) {
      status_ = functions().set_attribute(descriptor_, name, type, static_cast<std::int64_t>(values.size()),
                                          values.data());
    }
    return *this;
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    return set_each(name, type, std::array<T, 1>{value});
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    if (is_good()) status_ = other.status_;
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.descriptor_);
  }
  Descriptor& finalize() {
    if (is_good()) status_ = functions().finalize(descriptor_);
    return *this;
  }

  /// Fills as many of `values` as the attribute has and returns their number; 0 where it cannot be read.
  template <class T>
  [[nodiscard]] std::size_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                std::span<T> values) const {
    std::int64_t count = 0;
    if (!is_good() ||
        functions().get_attribute(descriptor_, name, type, static_cast<std::int64_t>(values.size()), &count,
                                  values.data()) != CUDNN_STATUS_SUCCESS) {
      return 0;
    }
    return std::min(values.size(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  }
  template <class T>
  [[nodiscard]] T get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
    T value{};
    static_cast<void>(get(name, type, std::span<T>(&value, 1)));
    return value;
  }
  /// Descriptors of one type that the attribute holds: at most `most`.
  [[nodiscard]] std::vector<Descriptor> get(cudnnBackendAttributeName_t name,
                                            cudnnBackendDescriptorType_t type, std::size_t most) const {
    std::vector<Descriptor> found;
    std::vector<cudnnBackendDescriptor_t> places;  // which the library fills
    for (std::size_t i = 0; i < most; ++i) places.push_back(found.emplace_back(type).descriptor_);
    const std::size_t count =
        get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::span<cudnnBackendDescriptor_t>(places));
    while (found.size() > count) found.pop_back();
    return found;
  }

  [[nodiscard]] bool is_good() const { return status_ == CUDNN_STATUS_SUCCESS; }
  [[nodiscard]] cudnnStatus_t status() const { return status_; }
  [[nodiscard]] cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  cudnnStatus_t status_;
};

/// Names of the graph's tensors.
constexpr std::int64_t input_id = 1;
constexpr std::int64_t masks_id = 2;
constexpr std::int64_t output_id = 3;

using Extents = std::array<std::int64_t, 4>;  ///< of images, channels, rows, columns: in any layout

Descriptor describe_tensor(std::int64_t id, cudnnDataType_t type, cudnnTensorFormat_t layout,
                           const Extents& extents) {
  const auto [images, channels, height, width] = extents;
  const Extents strides = layout == CUDNN_TENSOR_NHWC
                              ? Extents{height * width * channels, 1, width * channels, channels}
                              : Extents{channels * height * width, height * width, width, 1};
  constexpr std::int64_t alignment = 16;  // in bytes
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type)
      .set_each(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, extents)
      .set_each(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment)
      .finalize();
  return tensor;
}

std::int64_t extent(std::size_t size) {
  return static_cast<std::int64_t>(size);
}

/// A graph of one operation, with all that it refers to.
class Graph {
 public:
  Graph(cudnnHandle_t handle, const Task& task)
      : handle_(handle),
        input_(describe_tensor(input_id, task.input.type, task.input.layout,
                               {extent(task.shape.batch), extent(task.input.channels),
                                extent(task.shape.height), extent(task.shape.width)})),
        masks_(describe_tensor(masks_id, task.input.type, task.input.layout,
                               {extent(task.output.channels), extent(task.input.channels),
                                extent(task.shape.mask), extent(task.shape.mask)})),
        output_(describe_tensor(output_id, task.output.type, task.output.layout,
                                {extent(task.shape.batch), extent(task.output.channels),
                                 extent(task.shape.out_height()), extent(task.shape.out_width())})) {
    constexpr std::int64_t dimensions = 2;
    const std::int64_t step = extent(task.shape.stride);
    const std::array<std::int64_t, dimensions> none{0, 0}, ones{1, 1}, strides{step, step};
    convolution_.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, dimensions)
        .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
        .set_each(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, none)
        .set_each(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, none)
        .set_each(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, ones)
        .set_each(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, strides)
        .finalize();
    const float one = 1;
    const float zero = 0;
    operation_.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution_)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, input_)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, masks_)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, output_)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, one)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, zero)
        .finalize();
    operations_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle_)
        .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation_)
        .finalize();
  }

  [[nodiscard]] cudnnHandle_t handle() const { return handle_; }

  /// What a heuristic of cuDNN's proposes, the likeliest first: at most `most`, none where it knows nothing.
  [[nodiscard]] std::vector<Descriptor> proposals(cudnnBackendHeurMode_t mode, std::size_t most) const {
    Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operations_)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode)
        .finalize();
    return heuristic.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, most);
  }

 private:
  cudnnHandle_t handle_;
  Descriptor input_;
  Descriptor masks_;
  Descriptor output_;
  Descriptor convolution_{CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR};
  Descriptor operation_{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR};
  Descriptor operations_{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

class GraphEngine final : public Engine {
 public:
  GraphEngine(std::shared_ptr<const Graph> graph, std::shared_ptr<const Descriptor> configuration)
      : graph_(std::move(graph)), configuration_(std::move(configuration)) {
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, graph_->handle())
        .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, *configuration_)
        .finalize();
    workspace_bytes_ = static_cast<std::size_t>(
        plan_.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64));
  }

  [[nodiscard]] bool is_supported() const { return plan_.is_good(); }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_bytes_; }

  [[nodiscard]] cudnnStatus_t run(const void* input, const void* masks, void* output,
                                  void* workspace) const override {
    const std::array<std::int64_t, 3> ids{input_id, masks_id, output_id};
    const std::array<void*, 3> addresses{const_cast<void*>(input), const_cast<void*>(masks), output};
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set_each(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, addresses)
        .set_each(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids)
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace)
        .finalize();
    return pack.is_good() ? functions().execute(graph_->handle(), plan_.get(), pack.get()) : pack.status();
  }

 private:
  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const Descriptor> configuration_;
  Descriptor plan_{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
  std::size_t workspace_bytes_ = 0;
};

/// Whether it rounds more than `math` permits: to TF32 on tensor cores, inputs to fewer bits, or sums.
bool rounds_too_much(const Descriptor& engine, const Task& task, Math math) {
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  notes.resize(engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, std::span(notes)));
  return std::ranges::any_of(notes, [&](cudnnBackendNumericalNote_t note) {
    switch (note) {
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        return math == Math::fp32;
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
        return math != Math::fp16 && task.input.type == CUDNN_DATA_FLOAT;
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
        return true;
      default:
        return false;
    }
  });
}

/// Whether its kernel is compiled when a plan is made, which takes as long as hundreds of others.
bool is_compiled_late(const Descriptor& engine) {
  std::vector<cudnnBackendBehaviorNote_t> notes(CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  notes.resize(engine.get(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, std::span(notes)));
  return std::ranges::find(notes, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) != notes.end();
}

/// An engine's number and its knobs: what tells one configuration from another.
std::string name_of(const Descriptor& configuration, const Descriptor& engine) {
  std::string name =
      "engine " + std::to_string(engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64));
  for (const Descriptor& knob : configuration.get(
           CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    const auto type =
        knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE);
    const auto value = knob.get<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64);
    name += ", knob " + std::to_string(type) + " = " + std::to_string(value);
  }
  return name;
}

/// How many of a heuristic's proposals are tried: beyond the first ones they rarely win.
struct Heuristic {
  cudnnBackendHeurMode_t mode;
  std::size_t most;
};
constexpr std::array heuristics{Heuristic{CUDNN_HEUR_MODE_A, 6}, Heuristic{CUDNN_HEUR_MODE_B, 4},
                                Heuristic{CUDNN_HEUR_MODE_FALLBACK, 4}};

}  // namespace

std::vector<Candidate> graph_engines(cudnnHandle_t handle, const Task& task, Math math) {
  constexpr std::size_t asked = 32;  // of which some are not to be used
  constexpr std::size_t most_compiled_late = 2;
  const auto graph = std::make_shared<const Graph>(handle, task);
  std::vector<Candidate> candidates;
  std::set<std::string> seen;
  std::size_t compiled_late = 0;
  for (const auto& [mode, most] : heuristics) {
    std::size_t taken = 0;
    for (Descriptor& proposal : graph->proposals(mode, asked)) {
      const auto engines = proposal.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
      if (taken == most || engines.empty() || rounds_too_much(engines.front(), task, math)) continue;
      const std::string name = name_of(proposal, engines.front());
      if (!seen.insert(name).second) continue;
      if (is_compiled_late(engines.front()) && ++compiled_late > most_compiled_late) continue;
      ++taken;
      const auto make = [graph, configuration = std::make_shared<const Descriptor>(
                                    std::move(proposal))]() -> std::unique_ptr<Engine> {
        auto made = std::make_unique<GraphEngine>(graph, configuration);
        return made->is_supported() ? std::move(made) : nullptr;
      };
      candidates.push_back({name, make});
    }
  }
  return candidates;
}

}  // namespace mprof::conv::cudnn

#endif
