// Each way in which a kernel can be wrong is reported for what it is, and costs its own case only.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/registry.hpp"
#include "model/run_file.hpp"
#include "runner/coordinator.hpp"
#include "runner/plan.hpp"
#include "tests/gpu/paths.hpp"
#include "tests/kernels/lenet_support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

class Isolation : public ::testing::Test {
 protected:
  /// Runs `variant` and conv/baseline at these batches and passes, and expects everything but `variant` at
  /// `bad` to be ok.
  PassResult said_of(const std::string& variant, std::uint64_t bad,
                     const std::vector<std::uint64_t>& batches) {
    mprof::Run run;
    run.plan.variants = {variant, "conv/baseline"};
    for (const std::uint64_t batch : batches)
      run.plan.problems["conv"].push_back(conv::test::batch_of(batch));
    run.plan.passes = {Pass::timing};
    run.plan.seed = 1;
    run.plan.timeout = 20;
    run.plan.stopping = {.min_samples = 1, .max_samples = 2, .max_seconds = 1, .relative_half_width = 0.5};
    run.plan.inputs = conv::test::input_paths();
    run.environment["cpu"]["model"] = "known already";  // no survey
    const Family& family = *Registry::instance().family("conv");
    run.families = {family.info()};
    for (const Problem& problem : run.plan.problems["conv"]) {
      run.families[0].problems.push_back({problem, family.ops(problem)});
    }
    for (const std::string& id : run.plan.variants) {
      run.variants.push_back({.id = id, .family = "conv", .title = id, .idea = "none", .device = "cuda"});
      if (id == "conv/baseline") run.variants.back() = Registry::instance().variant(id)->info;
      Parameters parameters;
      for (const ParameterInfo& parameter : run.variants.back().parameters) {
        parameters[parameter.name] = parameter.default_value;
      }
      for (const ProblemInfo& problem : run.families[0].problems) {
        Case c;
        c.key = {id, parameters, problem.problem};
        c.id = case_id(c.key, run.variants.back());
        c.ops = problem.ops;
        c.passes = {{.pass = Pass::timing}};
        run.cases.push_back(c);
      }
    }
    const test::TemporaryDirectory temporary;
    ResultDirectory directory(temporary.path() / "run", ResultDirectory::Mode::create);
    Progress silent;
    coordinate(run, {{test::program("mprof_gpu_test_worker")}, directory, steady_clock(), silent, -1});
    EXPECT_EQ(run.state, RunState::complete);
    PassResult said;
    for (const Case& c : run.cases) {
      if (c.key.variant == variant && c.key.problem == conv::test::batch_of(bad)) {
        said = c.passes.at(0);
      } else {
        EXPECT_EQ(c.passes.at(0).status, Status::ok) << c.id << ": " << c.passes.at(0).reason;
      }
    }
    std::printf("%s@%lu: %s: %s\n", variant.c_str(), static_cast<unsigned long>(bad),
                std::string(to_string(said.status)).c_str(), said.reason.c_str());
    return said;
  }

  static void expect_said(const PassResult& said, Status status, const std::string& words) {
    EXPECT_EQ(said.status, status) << said.reason;
    EXPECT_NE(said.reason.find(words), std::string::npos) << said.reason;
  }
};

TEST_F(Isolation, AnIllegalAccess) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_illegal_access", 1000, {100, 1000, 1500}), Status::failed,
              "cudaErrorIllegalAddress");
}

TEST_F(Isolation, AHang) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_hang", 1000, {100, 1000, 1500}), Status::timeout, "took longer than 20 s");
}

TEST_F(Isolation, MemoryThatDoesNotSuffice) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_greedy", 1000, {100, 1000, 1500}), Status::failed,
              "cudaErrorMemoryAllocation");
}

TEST_F(Isolation, NotANumber) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_nan", 1000, {100, 1000, 1500}), Status::wrong, "are NaN or infinite");
}

TEST_F(Isolation, AKernelThatDoesNothing) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_nothing", 1000, {100, 1000, 1500}), Status::wrong, "were never written");
}

TEST_F(Isolation, RightAtASmallBatchAndWrongAtALargeOne) {
  MPROF_NEED_IMAGES();
  expect_said(said_of("conv/test_wrong_at_large", 10000, {100, 10000}), Status::wrong,
              "never written, the first at [image 9999");
}

}  // namespace
}  // namespace mprof
