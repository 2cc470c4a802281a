// SPDX-License-Identifier: MIT
#include "kernels/common/plugin_family.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/buffer.hpp"
#include "kernels/common/declaration.hpp"
#include "kernels/common/fingerprint.hpp"
#include "kernels/common/op.hpp"
#include "kernels/common/parallel.hpp"
#include "kernels/common/random.hpp"
#include "kernels/common/turning.hpp"
#include "kernels/common/verification.hpp"
#include "kernels/registry.hpp"

namespace mprof {
namespace {

using Arrays = std::vector<std::span<const float>>;

/// An op that a variant's library computes.
class LibraryOp final : public Op {
 public:
  LibraryOp(std::shared_ptr<const Plugin> plugin, const Parameters& parameters)
      : op_(std::move(plugin), parameters) {}

  void prepare(const PluginTask& task) { op_.prepare(task); }
  void forward() override { op_.forward(); }
  void finish() override { op_.finish(); }
  void poison_output(std::uint32_t pattern) override { op_.poison_output(pattern); }

 private:
  PluginOp op_;
};

/// Evenly from [-1, 1), in 2^24 steps.
void draw_evenly(std::span<float> values, std::uint64_t seed) {
  constexpr float step = 0x1p-23F;
  parallel_for(values.size(), hardware_threads(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      values[i] = step * static_cast<float>(random_bits(seed + i) >> 40) - 1.0F;
  });
}

/// An op at one problem, and how its inputs are made.
struct PlacedOp {
  std::shared_ptr<const FamilyLibrary> library{};
  Problem problem{};
  std::size_t place = 0;  ///< among the family's ops
  OpLayout layout{};

  /// The input of this place with `held` blocks, where the first ones come again behind the last one.
  [[nodiscard]] Buffer make_input(std::size_t input, std::size_t held, std::uint64_t seed) const {
    const InputLayout& of = layout.inputs[input];
    const std::size_t own = of.is_shared ? of.elements : layout.blocks * of.elements;
    Buffer values(of.is_shared ? own : held * of.elements);
    // Inputs draw from numbers of their own.
    const std::uint64_t own_seed = random_bits(random_bits(seed + place) + input);
    const std::span<float> drawn = values.span().first(own);
    if (library->fills()) {
      library->fill(problem, place, input, own_seed, drawn);
    } else {
      draw_evenly(drawn, own_seed);
    }
    std::memcpy(values.data() + own, values.data(), (values.size() - own) * sizeof(float));
    return values;
  }

  [[nodiscard]] std::vector<Buffer> make_inputs(std::size_t held, std::uint64_t seed) const {
    std::vector<Buffer> inputs;
    for (std::size_t i = 0; i < layout.inputs.size(); ++i) inputs.push_back(make_input(i, held, seed));
    return inputs;
  }

  /// What is read of these inputs when block `first` comes first.
  [[nodiscard]] Arrays arrays(const std::vector<Buffer>& inputs, std::size_t first) const {
    Arrays arrays;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const InputLayout& of = layout.inputs[i];
      arrays.push_back(of.is_shared
                           ? inputs[i].span()
                           : inputs[i].span().subspan(first * of.elements, layout.blocks * of.elements));
    }
    return arrays;
  }

  [[nodiscard]] PluginTask task(const Arrays& arrays, std::span<float> output) const {
    PluginTask task{.inputs = arrays, .output = output};
    for (const auto& [name, value] : layout.sizes) task.sizes.emplace_back(name.c_str(), value);
    return task;
  }

  [[nodiscard]] OutputToVerify to_verify(const Arrays& arrays, std::span<const float> output,
                                         double tolerance) const {
    const std::string& item = library->info().nouns.item;
    const std::string& items = library->info().nouns.items;
    const auto bound = std::make_shared<const BoundTask>(task(arrays, {}));
    return {.op = layout.info.name,
            .item = item.empty() ? std::string_view("item") : std::string_view(item),
            .items = items.empty() ? std::string_view("items") : std::string_view(items),
            .item_size = layout.item_elements,
            .items_in_block = layout.items_in_block,
            .output = output,
            .tolerance = tolerance,
            .reference =
                [this, bound](std::size_t block) {
                  // It is told how many values it is to write, and not where a variant wrote its own.
                  mprof_task asked = **bound;
                  asked.output_elements = layout.block_elements();
                  return library->reference(place, block, asked);
                },
            .place =
                [this, name = item.empty() ? std::string("item") : item](std::size_t element) {
                  const std::size_t size = layout.item_elements;
                  if (size == 1) return fmt::format("[{} {}]", name, element);
                  return fmt::format("[{} {}, element {}]", name, element / size, element % size);
                }};
  }
};

/// Where all blocks read the whole of each input, these have no order.
Turning turning_of(const OpLayout& layout) {
  const bool has_order =
      std::ranges::any_of(layout.inputs, [](const InputLayout& of) { return !of.is_shared; });
  return has_order ? Turning(layout.blocks) : Turning(layout.blocks, 1);
}

/// An op with the inputs that each variant reads.
struct LoadedOp {
  explicit LoadedOp(PlacedOp placed)
      : op(std::move(placed)), turning(turning_of(op.layout)), inputs(op.make_inputs(turning.held(), 0)) {
    for (const Buffer& input : inputs) fingerprints_at_load.push_back(fingerprint(input.span()));
  }

  [[nodiscard]] bool has_its_inputs() const {
    return std::ranges::equal(inputs, fingerprints_at_load, {},
                              [](const Buffer& input) { return fingerprint(input.span()); });
  }

  PlacedOp op;
  Turning turning;  ///< of the blocks
  std::vector<Buffer> inputs;
  std::vector<std::uint64_t> fingerprints_at_load;
};

/// One op of an execution. Its output is allocated and touched here, once.
class OpExecution {
 public:
  OpExecution(const LoadedOp& loaded, const std::shared_ptr<const Plugin>& plugin,
              const Parameters& parameters)
      : loaded_(loaded),
        precision_(plugin->precision(parameters)),
        tolerance_(precision_ ? loaded.op.layout.tolerance
                              : plugin->tolerance().value_or(loaded.op.layout.tolerance)),
        op_(plugin, parameters),
        output_(loaded.op.layout.output_elements()),
        proof_(loaded.turning) {}

  void run(StageObserver& observer, const Trial& trial, std::vector<Verification>& verification) {
    const PlacedOp& op = loaded_.op;
    std::vector<Buffer> unseen;
    if (trial.unseen) observer.aside([&] { unseen = op.make_inputs(op.layout.blocks, trial.seed); });
    const Arrays arrays =
        trial.unseen ? op.arrays(unseen, 0) : op.arrays(loaded_.inputs, loaded_.turning.first(trial.turn));
    const PluginTask task = op.task(arrays, output_.span());
    run_stages(
        op.layout.info.name, op_, [&] { op_.prepare(task); }, output_.span(), observer);
    if (trial.on_output) observer.aside([&] { trial.on_output(op.layout.info.name, output_.span()); });
    if (trial.proof == Proof::none) return;
    observer.aside([&] {
      verification.push_back(
          proof_(in_precision(op.to_verify(arrays, output_.span(), tolerance_), precision_), trial));
    });
  }

 private:
  const LoadedOp& loaded_;
  std::optional<std::string> precision_;
  double tolerance_;
  LibraryOp op_;
  Buffer output_;
  OutputProof proof_;
};

class PluginExecution final : public Execution {
 public:
  PluginExecution(const std::vector<LoadedOp>& loaded, const std::shared_ptr<const Plugin>& plugin,
                  const Parameters& parameters)
      : loaded_(loaded) {
    for (const LoadedOp& op : loaded) ops_.push_back(std::make_unique<OpExecution>(op, plugin, parameters));
  }

  ExecutionResult run(StageObserver& observer, const Trial& trial) override {
    ExecutionResult result;
    for (const auto& op : ops_) op->run(observer, trial, result.verification);
    return result;
  }

  /// Those that all of the ops have.
  [[nodiscard]] std::size_t turns() const override {
    const auto of = [](const LoadedOp& op) { return op.turning.turns(); };
    return of(*std::ranges::min_element(loaded_, {}, of));
  }

  [[nodiscard]] bool has_its_inputs() const override {
    return std::ranges::all_of(loaded_, &LoadedOp::has_its_inputs);
  }

 private:
  const std::vector<LoadedOp>& loaded_;
  std::vector<std::unique_ptr<OpExecution>> ops_;
};

/// What a variant's library holds, by the variant's id.
std::map<std::string, std::shared_ptr<const Plugin>, std::less<>>& adopted() {
  static std::map<std::string, std::shared_ptr<const Plugin>, std::less<>> plugins;
  return plugins;
}

class PluginWorkload final : public Workload {
 public:
  PluginWorkload(const std::shared_ptr<const FamilyLibrary>& library, const Problem& problem) {
    const std::vector<OpLayout> layouts = library->ops(problem);
    for (std::size_t i = 0; i < layouts.size(); ++i)
      ops_.emplace_back(PlacedOp{.library = library, .problem = problem, .place = i, .layout = layouts[i]});
  }

  std::unique_ptr<Execution> bind(const std::string& variant, const Parameters& parameters) override {
    const auto found = adopted().find(variant);
    if (found == adopted().end()) detail::fail_unknown_variant(variant);
    const std::vector<ParameterInfo> declared = found->second->parameters();
    return std::make_unique<PluginExecution>(ops_, found->second,
                                             resolve_parameters(declared, variant, parameters));
  }

 private:
  std::vector<LoadedOp> ops_;
};

const bool registered = [] {
  Registry::instance().set_family_maker(
      [](const std::shared_ptr<const FamilyLibrary>& library) -> std::unique_ptr<Family> {
        return std::make_unique<PluginFamily>(library);
      });
  return true;
}();

}  // namespace

PluginFamily::PluginFamily(std::shared_ptr<const FamilyLibrary> library) : library_(std::move(library)) {}

std::vector<Problem> PluginFamily::default_problems(bool quick) const {
  return quick ? library_->quick_problems() : library_->problems();
}

std::vector<OpInfo> PluginFamily::ops(const Problem& problem) const {
  std::vector<OpInfo> ops;
  for (const OpLayout& layout : library_->ops(problem)) ops.push_back(layout.info);
  return ops;
}

std::unique_ptr<Workload> PluginFamily::load(const Problem& problem, const InputPaths& /*inputs*/) const {
  return std::make_unique<PluginWorkload>(library_, problem);
}

void PluginFamily::adopt(const std::string& id, const std::shared_ptr<const Plugin>& plugin) const {
  adopted().insert_or_assign(id, plugin);
}

}  // namespace mprof
