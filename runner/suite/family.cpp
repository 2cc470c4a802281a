// SPDX-License-Identifier: MIT
#include "runner/suite/family.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/program/family.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

FamilyInfo info_of(const Suite& suite) {
  FamilyInfo info{.id = suite.name, .title = suite.title, .nouns = suite.nouns, .qualities = suite.qualities};
  for (const SuiteAxis& axis : suite.axes) info.axes.push_back(axis.info);
  return info;
}

/// A suite's programs are run as they are, so nothing is loaded and nothing bound.
class SuiteFamily final : public Family {
 public:
  explicit SuiteFamily(const Suite& suite) : info_(info_of(suite)), axes_(suite.axes) {}

  [[nodiscard]] const FamilyInfo& info() const override { return info_; }

  [[nodiscard]] std::vector<Problem> default_problems(bool quick) const override {
    std::vector<Problem> all{Problem{}};
    for (const SuiteAxis& axis : axes_) {
      std::vector<Problem> extended;
      for (const Problem& partial : all) {
        for (const std::uint64_t value : quick ? axis.quick : axis.values) {
          extended.push_back(partial);
          extended.back().coordinates.push_back({axis.info.name, value});
        }
      }
      all = std::move(extended);
    }
    return all;
  }

  [[nodiscard]] std::vector<OpInfo> ops(const Problem& /*problem*/) const override {
    return planned_program_ops();
  }

  [[nodiscard]] std::unique_ptr<Workload> load(const Problem& /*problem*/,
                                               const InputPaths& /*inputs*/) const override {
    throw Error(ExitCode::fault, "a program of a suite was to be loaded");
  }

 private:
  FamilyInfo info_;
  std::vector<SuiteAxis> axes_;
};

VariantInfo variant_of(const Suite& suite, const SuiteProgram& program) {
  const auto id = [&](const std::string& name) { return fmt::format("{}/{}", suite.name, name); };
  const std::string command = fmt::format("{}", fmt::join(program.command, " "));
  return {.id = id(program.name),
          .family = suite.name,
          .title = program.title,
          .idea = program.idea.empty() ? fmt::format("A program as it is: {}", command) : program.idea,
          .device = "cuda",
          .baseline = program.baseline.empty() ? "" : id(program.baseline),
          .expectations = program.expectations,
          .subject = Subject::program,
          .command = program.command};
}

}  // namespace

void register_suite(const Suite& suite, Registry& registry) {
  if (Registry::instance().family(suite.name) != nullptr)
    throw Error(ExitCode::usage,
                fmt::format("{}: name: mprof has a family '{}' of its own; give the suite another name.",
                            suite.file.string(), suite.name));
  registry.add(std::make_unique<SuiteFamily>(suite));
  for (const SuiteProgram& program : suite.programs) registry.add({variant_of(suite, program), {}});
}

}  // namespace mprof
