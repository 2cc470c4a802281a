// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/printed_number.hpp"
#include "model/family.hpp"
#include "model/run.hpp"

/// mprof.toml: several programs of the user's that do the same, to be measured side by side.
/// docs/guides/suites.md says what may stand in it.
namespace mprof {

/// An axis, and where on it the programs are run.
struct SuiteAxis {
  AxisInfo info{};
  std::vector<std::uint64_t> values{};
  std::vector<std::uint64_t> quick{};  ///< with --quick
};

/// A number that the programs print. A time of an op ("op_time", "group_time"): each line that fits is the
/// next op's. Or a quality of the suite's: the last line that fits counts.
struct SuiteNumber {
  std::string metric{};
  NumberPattern pattern;
  [[nodiscard]] bool is_of_ops() const { return metric == "op_time" || metric == "group_time"; }
};

/// How an output is found right or wrong: by one of three.
struct SuiteVerification {
  std::vector<std::string> command{};  ///< that ends with 0 where the output is right; or
  std::string expected{};              ///< a file that holds what it must be; or
  std::string number{};                ///< a number that the program prints, by its metric

  std::string output{};         ///< the file that the program writes; empty: what it prints. With `expected`
  std::optional<double> value;  ///< that the number must have, in SI base units. With `number`
  double tolerance = 0;         ///< how far numbers may be off: with `expected` relative, with `number` not
};

struct SuiteProgram {
  std::string name{};
  std::string title{};
  std::string idea{};
  std::string baseline{};  ///< another program's name; empty: it is a baseline
  std::vector<Expectation> expectations{};
  std::vector<std::string> command{};  ///< as written: "{batch}" stands for the value on the axis `batch`
  std::vector<std::string> build{};    ///< run before, once; empty: nothing to build
  std::map<std::string, std::string> environment{};
  std::string folder{};             ///< that it begins in, below the suite's; may hold axes as `command` does
  std::optional<double> timeout{};  ///< s
  std::optional<SuiteVerification> verification{};
  std::size_t line = 0;  ///< of its command
};

struct Suite {
  std::filesystem::path file{};  ///< absolute
  std::string name{};            ///< the family's id
  std::string title{};
  Nouns nouns{};
  std::vector<SuiteAxis> axes{};
  std::vector<SuiteNumber> numbers{};
  std::vector<QualityInfo> qualities{};  ///< the numbers that are not times of ops
  std::vector<std::string> ops{};        ///< names of the ops whose times are printed, in their order
  std::vector<SuiteProgram> programs{};

  [[nodiscard]] std::filesystem::path folder() const { return file.parent_path(); }
  [[nodiscard]] const SuiteProgram* program(std::string_view program) const;
};

/// Throws Error(usage) that names the file, the line and the key: for a text that is not TOML, an unknown
/// key, a missing key, and an impossible value. Paths in the text are relative to `file`.
[[nodiscard]] Suite parse_suite(std::string_view text, const std::filesystem::path& file);

/// The same of a file.
[[nodiscard]] Suite read_suite(const std::filesystem::path& file);

/// A text with the problem's values in place of the axes in braces.
[[nodiscard]] std::string at_problem(std::string_view text, const Problem& problem);

}  // namespace mprof
