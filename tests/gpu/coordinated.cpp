// SPDX-License-Identifier: MIT
#include "tests/gpu/coordinated.hpp"

#include "kernels/registry.hpp"
#include "model/derive/derive.hpp"
#include "model/run_file.hpp"
#include "runner/coordinator.hpp"
#include "runner/plan.hpp"
#include "tests/gpu/paths.hpp"
#include "tests/kernels/lenet_support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof::test {
namespace {

/// What the registry has of it; else what every case needs of a variant that only the tests' worker has.
VariantInfo info_of(const std::string& id, const std::string& family) {
  if (const RegisteredVariant* known = Registry::instance().variant(id)) return known->info;
  return {.id = id, .family = family, .title = id, .idea = "none", .device = "cuda"};
}

}  // namespace

Run coordinated(const std::string& family, const std::vector<std::string>& variants,
                const std::vector<Problem>& problems, const std::vector<Pass>& passes,
                const Stopping& stopping) {
  Run run;
  run.plan.variants = variants;
  run.plan.problems[family] = problems;
  run.plan.passes = passes;
  run.plan.seed = 1;
  run.plan.timeout = 20;
  run.plan.stopping = stopping;
  run.plan.inputs = conv::test::input_paths();
  run.environment["cpu"]["model"] = "known already";  // no survey
  const Family& the_family = *Registry::instance().family(family);
  run.families = {the_family.info()};
  for (const Problem& problem : problems)
    run.families[0].problems.push_back({problem, the_family.ops(problem)});
  for (const std::string& id : variants) {
    const VariantInfo& variant = run.variants.emplace_back(info_of(id, family));
    Parameters parameters;
    for (const ParameterInfo& parameter : variant.parameters)
      parameters[parameter.name] = parameter.default_value;
    for (const ProblemInfo& problem : run.families[0].problems) {
      Case& c = run.cases.emplace_back();
      c.key = {id, parameters, problem.problem};
      c.id = case_id(c.key, variant);
      c.ops = problem.ops;
      for (const Pass pass : passes) c.passes.push_back({.pass = pass});
    }
  }
  const TemporaryDirectory temporary;
  ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
  Progress silent;
  coordinate(run, {{program("mprof_gpu_test_worker")}, directory, steady_clock(), silent, -1});
  derive(run, directory.path());
  return run;
}

}  // namespace mprof::test
