#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/conv/lenet/shape.hpp"
#include "model/run.hpp"

/// What a variant of the family `conv` is: everything that its file needs to include.
namespace mprof::conv {

/// One way to compute a convolution. Pointers are to host memory, whatever the variant runs on. An object
/// serves one layer of one execution: its constructor makes what lives as long as the process (library
/// handles, streams), and then the three stages run in turn, any number of times.
class Convolution {
 public:
  virtual ~Convolution() = default;

  /// Allocates, and brings the inputs to where forward() reads them. `input` is [B][C][H][W], `mask`
  /// [M][C][K][K], `output` [B][M][H_out][W_out]; all stay valid until finish() has returned.
  virtual void prepare(const Shape& shape, const float* input, const float* mask, float* output) = 0;

  /// Computes. May be called more than once between prepare() and finish(), and leaves the same output each
  /// time.
  virtual void forward() = 0;

  /// Brings the result to `output` and frees what prepare() allocated.
  virtual void finish() = 0;

  /// Fills the place that forward() writes to with `pattern`, where that is not `output` itself: memory that
  /// a device allocates may still hold the right values of the run before. A check calls it between prepare()
  /// and forward(); `output` it has filled before prepare().
  virtual void poison_output(std::uint32_t pattern) { static_cast<void>(pattern); }
};

/// What a variant says of itself. Its id is its file's path.
struct Declaration {
  std::string title;
  std::string idea;      ///< one or two sentences; the file's head tells the story
  std::string device;    ///< "cpu" or "cuda"
  std::string baseline;  ///< id of the variant that it says it improves on; empty: it is the baseline
  std::vector<ParameterInfo> parameters{};
  std::vector<Expectation> expectations{};
  std::vector<std::string> references{};
  /// Ids of the variants whose ideas it combines, where a report shall hold what it gives against the product
  /// of what they give alone.
  std::vector<std::string> combines{};
  /// Why it cannot run on this machine, or nullopt; creates no device context. Empty: it runs anywhere.
  std::function<std::optional<std::string>()> unavailable{};
  /// The largest relative L2 error of an image's output that still counts as right.
  double tolerance = 1e-5;
  /// In its place, where it depends on a parameter, as it does on a precision.
  std::function<double(const Parameters& parameters)> tolerance_of{};
  /// The library that the variant calls and how to ask for its version, for the run's environment; or
  /// neither.
  std::string library{};
  std::function<std::string()> library_version{};
  /// Makes one layer's convolution; `parameters` has a value for each declared parameter.
  std::function<std::unique_ptr<Convolution>(const Parameters& parameters)> make;
};

/// Adds a variant at start-up: each variant's file has one constant of this type.
class Register {
 public:
  explicit Register(Declaration declaration, const char* file = __builtin_FILE());
};

/// What the variant `id` declared, or nullptr.
[[nodiscard]] const Declaration* find_declaration(std::string_view id);

/// The tolerance that holds for these parameters, of which each declared one has a value.
[[nodiscard]] double tolerance(const Declaration& declaration, const Parameters& parameters);

/// The value of each declared parameter: the given one, or the default. Throws Error(usage) for a parameter
/// or a value that is not declared, naming those that are.
[[nodiscard]] Parameters resolve_parameters(const Declaration& declaration, const std::string& id,
                                            const Parameters& given);

}  // namespace mprof::conv
