// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/library_fact.hpp"
#include "model/run.hpp"

/// How a variant's file tells of itself, in any family: it has one constant of the type Register.
namespace mprof {

/// What a variant says of itself. Its id is its file's path. `Op` is what its family's variants compute.
template <class Op>
struct Declaration {
  std::string title;
  std::string idea;      ///< one or two sentences; the file's head tells the story
  std::string device;    ///< "cpu" or "cuda"
  std::string baseline;  ///< id of the variant that it says it improves on; empty: it is the baseline
  std::vector<ParameterInfo> parameters{};
  std::vector<Expectation> expectations{};
  std::vector<std::string> references{};
  /// Ids of the variants whose ideas it combines, where a report must compare what it gives with the product
  /// of what they give alone.
  std::vector<std::string> combines{};
  /// Why it cannot run on this machine, or nullopt; creates no device context. Empty: it runs anywhere.
  std::function<std::optional<std::string>()> unavailable{};
  /// Why values of its parameters cannot go together, whatever they compute, or nullopt: such a case is
  /// skipped with the reason. `parameters` has a value for each declared one. Empty: all can.
  std::function<std::optional<std::string>(const Parameters& parameters)> impossible{};
  /// The largest relative L2 error of an item of the output that still counts as right, where it is not the
  /// family's own.
  std::optional<double> tolerance{};
  /// In its place, where it depends on a parameter, as it does on a precision.
  std::function<double(const Parameters& parameters)> tolerance_of{};
  /// What the run's environment says of the libraries that the variant calls. The first one is the library
  /// whose routines do the work.
  std::vector<LibraryFact> libraries{};
  /// They evaluate parts alone: the work is the variant's own.
  bool is_own_work = false;
  /// The share of an op's FLOPs that its algorithm executes at least, where that is less than the op's
  /// definition needs. Winograd's F(2x2, 3x3) has 1 / 2.25 of a convolution's multiplications. A variant that
  /// executes much less than it says is suspect.
  std::optional<double> arithmetic{};
  /// The same for an op's special-function operations. Its time is compared with the time that these take the
  /// hardware's units. The root of a half-angle formula does not count.
  std::optional<double> special_functions{};
  /// Variables that a library reads when it is loaded. Processes that run variants find them set, to these
  /// values where the user has not set them.
  std::function<std::map<std::string, std::string>()> environment{};
  /// Makes what computes one op; `parameters` has a value for each declared parameter.
  std::function<std::unique_ptr<Op>(const Parameters& parameters)> make;
};

/// The value of each declared parameter: the given one, or the default. Throws Error(usage) for a parameter
/// or a value that is not declared, naming the declared ones; `id` is the variant that the message names.
[[nodiscard]] Parameters resolve_parameters(const std::vector<ParameterInfo>& declared, const std::string& id,
                                            const Parameters& given);

/// The tolerance that holds for these parameters, of which each declared one has a value: the family's where
/// a precision says what is right (in_precision()).
template <class Op>
[[nodiscard]] double tolerance(const Declaration<Op>& declaration, const Parameters& parameters,
                               const std::optional<std::string>& precision, double of_family) {
  if (precision) return of_family;
  if (declaration.tolerance_of) return declaration.tolerance_of(parameters);
  return declaration.tolerance.value_or(of_family);
}

namespace detail {

/// Adds a variant to the registry, under the id and the source file that `file` gives it; returns the id.
std::string register_variant(
    VariantInfo info, std::string_view file, std::function<std::optional<std::string>()> unavailable,
    std::function<std::optional<std::string>(const Parameters& parameters)> impossible);
void register_libraries(std::vector<LibraryFact> libraries, const std::string& variant);
void register_environment(std::function<std::map<std::string, std::string>()> environment);
[[noreturn]] void fail_unknown_variant(std::string_view id);

/// By id. A function's static, since variants register before main() in an order that nobody knows.
template <class Op>
std::map<std::string, Declaration<Op>, std::less<>>& declarations() {
  static std::map<std::string, Declaration<Op>, std::less<>> table;
  return table;
}

}  // namespace detail

/// Adds a variant at start-up: each variant's file has one constant of this type.
template <class Op>
class Register {
 public:
  explicit Register(Declaration<Op> declaration, const char* file = __builtin_FILE()) {
    const bool is_theirs = !declaration.libraries.empty() && !declaration.is_own_work;
    const std::string library = is_theirs ? declaration.libraries.front().name : "";
    const std::string id = detail::register_variant({.title = declaration.title,
                                                     .idea = declaration.idea,
                                                     .device = declaration.device,
                                                     .baseline = declaration.baseline,
                                                     .parameters = declaration.parameters,
                                                     .expectations = declaration.expectations,
                                                     .references = declaration.references,
                                                     .combines = declaration.combines,
                                                     .library = library,
                                                     .arithmetic = declaration.arithmetic,
                                                     .special_functions = declaration.special_functions},
                                                    file, declaration.unavailable, declaration.impossible);
    detail::register_libraries(declaration.libraries, id);
    if (declaration.environment) detail::register_environment(declaration.environment);
    detail::declarations<Op>().emplace(id, std::move(declaration));
  }
};

/// Lets declaration_of() find what a variant declares that registered itself otherwise, as plug-ins do.
template <class Op>
void declare(const std::string& id, Declaration<Op> declaration) {
  detail::declarations<Op>().insert_or_assign(id, std::move(declaration));
}

/// What the variant `id` declared. Throws Error(usage) when the family of `Op` has no such variant.
template <class Op>
[[nodiscard]] const Declaration<Op>& declaration_of(std::string_view id) {
  const auto found = detail::declarations<Op>().find(id);
  if (found == detail::declarations<Op>().end()) detail::fail_unknown_variant(id);
  return found->second;
}

}  // namespace mprof
