// SPDX-License-Identifier: MIT
// Families behind the C boundary: what they declare is looked at, and what they compute is verified as those
// of mprof are.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/family_library.hpp"
#include "kernels/plugin.hpp"
#include "kernels/registry.hpp"
#include "runner/source/build.hpp"
#include "runner/source/family_folder.hpp"
#include "system/clock.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

class FamilyFromOutside : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("MPROF_CACHE", (directory.path() / "cache").c_str(), 1); }

  fs::path built(const std::string& name, const std::string& text) {
    const fs::path source = directory.path() / (name + ".cpp");
    write_file(source, text);
    return build_library(source, {.flags = {"-O0"}}, LibraryFolder(), steady_clock()).library;
  }

  mprof::test::TemporaryDirectory directory;
};

/// A family in C whose declaration has the fault that FAULT names.
const char* const faulty = R"(
#include <cstdlib>
#include <cstring>
#include <mprof/plugin.h>
static bool is(const char* fault) { return std::strcmp(std::getenv("FAULT"), fault) == 0; }
static mprof_failure ops(const mprof_size* problem, const mprof_op** given, size_t* count) {
  static mprof_input input;
  static mprof_op all[2];
  input = {"x", is("empty input") ? 0u : 1u, 0, is("integers") ? MPROF_INT32 : is("type") ? 7u : MPROF_FLOAT32};
  mprof_op op{};
  op.name = is("op name") ? "" : "sum";
  op.inputs = &input;
  op.input_count = 1;
  op.blocks = is("no block") ? 0 : is("many blocks") ? size_t{1} << 62 : problem[0].value;
  op.items_in_block = op.item_elements = 1;
  op.tolerance = is("no tolerance") ? 0 : is("tolerance") ? 0.5 : 1e-6;
  op.flops = is("flops") ? -1 : 0;
  all[0] = all[1] = op;
  *given = all;
  *count = is("no op") ? 0 : is("op twice") ? 2 : 1;
  return is("no ops") ? "there is nothing to do" : nullptr;
}
static mprof_failure reference(const mprof_task*, size_t, size_t, double* values) { return values[0] = 1, nullptr; }
extern "C" __attribute__((visibility("default"))) uint32_t mprof_abi_version() { return MPROF_ABI_VERSION; }
extern "C" __attribute__((visibility("default"))) const mprof_family* mprof_family_plugin() {
  static const uint64_t inside[] = {10, 10}, outside[] = {101};
  static mprof_axis axes[2];
  static mprof_family family;
  axes[0] = axes[1] = {is("axis name") ? "a b" : "rows", "", "", is("no meaning") ? nullptr : "of it", is("default") ? 101u : 10u, 1, 100};
  family = {is("name") ? "a/b" : "f", is("no title") ? "" : "F", "", "", "", axes, is("no axis") ? 0u : is("axis twice") ? 2u : 1u,
            is("outside") ? outside : inside, is("no problem") ? 0u : 1u, nullptr, 0, ops, nullptr, is("no reference") ? nullptr : reference};
  return is("none") ? nullptr : &family;
}
)";

TEST_F(FamilyFromOutside, OfADeclarationThatCannotBeIsRefused) {
  const fs::path library = built("faulty", faulty);
  const auto refusal = [&](const std::string& fault) -> std::string {
    ::setenv("FAULT", fault.c_str(), 1);
    try {
      const FamilyLibrary family(library);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refusal("nothing"), "");
  const std::vector<std::pair<std::string, std::string>> faults{
      {"none", "mprof_family_plugin() is missing or gives none"},
      {"name", "family's name, \"a/b\", is not"},
      {"no title", "no title"},
      {"no axis", "no axis"},
      {"axis name", "name of an axis, \"a b\", is not"},
      {"axis twice", "two of its axes are called rows"},
      {"no meaning", "axis rows has no meaning"},
      {"default", "default of its axis rows, 101, is outside"},
      {"no problem", "no problem to run"},
      {"outside", "problem 101 is outside of the axis rows"},
      {"no reference", "lacks ops or reference"},
      {"no op", "at the problem 10, it gives no ops"},
      {"no ops", "it gives no ops: there is nothing to do"},
      {"op twice", "another op has its name"},
      {"op name", "name of an op, \"\", is not"},
      {"no block", "output has no element"},
      {"many blocks", "more elements than any memory could hold"},
      {"no tolerance", "its tolerance is 0;"},
      {"tolerance", "its tolerance is 0.5;"},
      {"flops", "are no amount"},
      {"empty input", "its input x has no element"},
      {"integers", "its input x is not of floats: the family must fill it"},
      {"type", "its input x is of a type that mprof does not know"}};
  for (const auto& [fault, reason] : faults) {
    const std::string message = refusal(fault);
    EXPECT_EQ(message.find(library.string()), 0U) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << fault << ": " << message;
  }
}

TEST_F(FamilyFromOutside, OfAProblemWithoutAValueForEachAxisIsRefused) {
  try {
    const FamilyLibrary library(built("uneven", R"(
#include <mprof/family.hpp>
using namespace mprof::plugin;
MPROF_FAMILY(.name = "f", .title = "F", .axes = {{.name = "rows", .meaning = "of it"}}, .problems = {{1, 2}},
             .ops = [](const Sizes&) { return std::vector<OpDefinition>(1); },
             .reference = [](const Task&, const Asked&, std::span<double>) {})
)"));
    FAIL() << "it was not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has 2 values for 1 axes"), std::string::npos) << error.what();
  }
}

/// Rows of 4 values that are added up; what is kept of the first execution is given for each that follows.
const char* const summing = R"(
#include <mprof/family.hpp>
using namespace mprof::plugin;
MPROF_FAMILY(.name = "sums", .title = "Sums", .axes = {{.name = "rows", .meaning = "of it"}}, .problems = {{32}},
  .ops = [](const Sizes& problem) -> std::vector<OpDefinition> {
    return {{.name = "sum", .inputs = {{.name = "values", .elements = 4}}, .blocks = problem.size("rows"),
             .tolerance = 1e-6}}; },
  .reference = [](const Task& task, const Asked& asked, std::span<double> sum) {
    sum[0] = 0;
    for (int i = 0; i < 4; ++i) sum[0] += task.input(0)[asked.block * 4 + i]; })
)";
const char* const summed = R"(
#include <mprof/variant.hpp>
struct Sum : mprof::plugin::HostOp {
  void forward() override {
    for (std::size_t row = 0; row < task().size("rows"); ++row) {
      if (!KEEPS || kept.size() < task().size("rows")) {
        float sum = 0;
        for (int i = 0; i < 4; ++i) sum += task().input(0)[row * 4 + i];
        kept.resize(row);
        kept.push_back(sum);
      }
      task().output()[row] = kept[row];
    }
  }
  std::vector<float> kept;
};
MPROF_VARIANT(.family = "sums", .title = "Sum", .device = "cpu",
              .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Sum>(); })
)";

TEST_F(FamilyFromOutside, IsVerifiedInAnyOrderOfItsBlocksAndOnUnseenInputs) {
  const std::unique_ptr<Family> family =
      Registry::instance().make_family(std::make_shared<const FamilyLibrary>(built("family", summing)));
  const std::string text = summed;
  family->adopt("sums/honest",
                std::make_shared<const Plugin>(built("honest", "#define KEEPS false\n" + text)));
  family->adopt("sums/keeps", std::make_shared<const Plugin>(built("keeps", "#define KEEPS true\n" + text)));
  const Problem problem = family->default_problems(false).front();
  const std::unique_ptr<Workload> workload = family->load(problem, {});
  const auto passed = [](Execution& execution, const Trial& trial) {
    NoObserver nobody;
    const Verification found = execution.run(nobody, trial).verification.at(0);
    EXPECT_EQ(found.elements, 32U);
    return found.passed;
  };
  const std::unique_ptr<Execution> honest = workload->bind("sums/honest", {});
  const std::unique_ptr<Execution> keeps = workload->bind("sums/keeps", {});
  ASSERT_EQ(honest->turns(), 8U);
  EXPECT_TRUE(passed(*keeps, {.proof = Proof::all_items}));
  for (std::size_t turn = 0; turn < honest->turns(); ++turn) {
    const Proof proof = turn == 0 ? Proof::all_items : Proof::as_before;
    EXPECT_TRUE(passed(*honest, {.proof = proof, .turn = turn})) << turn;
    EXPECT_EQ(passed(*keeps, {.proof = Proof::all_items, .turn = turn}), turn == 0) << turn;
  }
  for (const std::uint64_t seed : {1U, 2U}) {
    EXPECT_TRUE(passed(*honest, {.proof = Proof::some_items, .unseen = true, .seed = seed}));
    EXPECT_FALSE(passed(*keeps, {.proof = Proof::some_items, .unseen = true, .seed = seed}));
  }
  EXPECT_TRUE(honest->has_its_inputs());
  EXPECT_THROW(static_cast<void>(workload->bind("sums/none", {})), Error);
}

TEST_F(FamilyFromOutside, IsAFolderWithOneFileThatDeclaresIt) {
  const fs::path folder = directory.path() / "mine";
  for (const char* file : {"family.cpp", "b c.cpp", "a.cu", "helper.hpp", "a.md", "below/other.cpp"})
    write_file(folder / file, "");
  const FamilyFolder found = read_family_folder(folder);
  EXPECT_EQ(found.family, folder / "family.cpp");
  EXPECT_EQ(found.variants, (std::vector<fs::path>{folder / "a.cu", folder / "b c.cpp"}));
  EXPECT_EQ(variant_name(found.variants.back()), "b_c");
  EXPECT_EQ(family_file(folder / "below"), std::nullopt);
  EXPECT_THROW(static_cast<void>(read_family_folder(folder / "below")), Error);
}

}  // namespace
}  // namespace mprof
