// SPDX-License-Identifier: MIT
#include "kernels/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/checksum.hpp"
#include "kernels/common/openblas.hpp"
#include "kernels/sources.hpp"
#include "model/metric.hpp"
#include "system/error.hpp"
#include "tests/kernels/support.hpp"

namespace mprof {
namespace {

using ::testing::ElementsAre;

RegisteredVariant variant(const std::string& id, const std::string& baseline = {}) {
  RegisteredVariant result;
  result.info.id = id;
  result.info.baseline = baseline;
  return result;
}

std::vector<std::string> ids(const Registry& registry) {
  std::vector<std::string> result;
  for (const RegisteredVariant* each : registry.variants()) result.push_back(each->info.id);
  return result;
}

TEST(Registry, IdIsThePathBelowKernels) {
  EXPECT_EQ(variant_id_of("kernels/conv/cpu_naive.cpp"), "conv/cpu_naive");
  EXPECT_EQ(variant_id_of("/home/a/mprof/kernels/conv/fused_matmul.cu"), "conv/fused_matmul");
  EXPECT_EQ(variant_id_of("/home/kernels/mprof/kernels/conv/x.cu"), "conv/x");
  EXPECT_EQ(variant_id_of("../kernels/conv/x.y.cu"), "conv/x.y");
  EXPECT_EQ(variant_id_of("/home/my-kernels/conv/x.cu"), "/home/my-kernels/conv/x");
  EXPECT_EQ(variant_id_of("kernels/conv.old/x"), "conv.old/x");
}

TEST(Registry, AsksTheLibrariesOfVariantsThatRunHere) {
  Registry registry;
  std::vector<std::string> loaded;
  for (const char* id : {"f/a", "f/b", "f/elsewhere"}) {
    RegisteredVariant each = variant(id);
    each.unavailable = [id]() -> std::optional<std::string> {
      if (std::string_view(id) == "f/elsewhere") return "no GPU";
      return std::nullopt;
    };
    registry.add(each);
    registry.add_library({.name = id,
                          .value =
                              [id, &loaded] {
                                loaded.emplace_back(id);
                                return std::string("1.0");
                              }},
                         id);
  }
  registry.add_library({.name = "always", .value = [] { return std::string("2.0"); }});
  const Environment environment = registry.library_versions({"f/a", "f/elsewhere"});
  EXPECT_EQ(environment, (Environment{{"libraries", {{"f/a", "1.0"}, {"always", "2.0"}}}}));
  EXPECT_THAT(loaded, ElementsAre("f/a"));
}

TEST(Registry, SourceFileKeepsTheExtension) {
  EXPECT_EQ(source_file_of("/a/kernels/conv/cpu_naive.cpp"), "conv/cpu_naive.cpp");
}

TEST(Registry, OrderIsByIdWithBaselinesFirstWhateverTheOrderOfRegistration) {
  std::vector<RegisteredVariant> all{variant("f/d", "f/z"), variant("f/a", "f/d"), variant("f/z"),
                                     variant("f/b"), variant("f/c", "f/a")};
  for (int turn = 0; turn < 5; ++turn) {
    Registry registry;
    for (const RegisteredVariant& each : all) registry.add(each);
    EXPECT_THAT(ids(registry), ElementsAre("f/z", "f/d", "f/a", "f/b", "f/c"));
    std::rotate(all.begin(), all.begin() + 1, all.end());
  }
}

TEST(Registry, OrderIsTotalWhenABaselineIsMissingOrInACircle) {
  Registry registry;
  registry.add(variant("f/lonely", "f/absent"));
  registry.add(variant("f/egg", "f/hen"));
  registry.add(variant("f/hen", "f/egg"));
  EXPECT_THAT(ids(registry), ElementsAre("f/hen", "f/egg", "f/lonely"));
}

TEST(Registry, RefusesTwoVariantsOfOneId) {
  Registry registry;
  registry.add(variant("f/a"));
  EXPECT_THROW(registry.add(variant("f/a")), Error);
}

TEST(Registry, FindsByIdOrSaysThereIsNone) {
  Registry registry;
  registry.add(variant("f/a"));
  ASSERT_NE(registry.variant("f/a"), nullptr);
  EXPECT_EQ(registry.variant("f/a")->info.id, "f/a");
  EXPECT_EQ(registry.variant("f/b"), nullptr);
  EXPECT_EQ(registry.family("f"), nullptr);
}

TEST(Registry, HoldsTheFamilyAndItsVariants) {
  const Registry& registry = Registry::instance();
  ASSERT_NE(registry.family("conv"), nullptr);
  for (const char* id : {"conv/cpu_naive", "conv/cpu_threads", "conv/cpu_im2col_gemm", "conv/cpu_onednn"}) {
    const RegisteredVariant* found = registry.variant(id);
    ASSERT_NE(found, nullptr) << id;
    EXPECT_EQ(found->info.family, "conv");
    EXPECT_EQ(found->info.source_file, std::string(id) + ".cpp");
    EXPECT_EQ(found->unavailable(), std::nullopt);
  }
}

TEST(Registry, ExportsWhatLibrariesReadUnlessTheUserHasSetIt) {
  Registry registry;
  registry.add_environment([] {
    return std::map<std::string, std::string>{{"MPROF_TEST_GIVEN", "ours"}, {"MPROF_TEST_ABSENT", "ours"}};
  });
  ::setenv("MPROF_TEST_GIVEN", "theirs", 1);
  ::unsetenv("MPROF_TEST_ABSENT");
  registry.export_environment();
  EXPECT_STREQ(std::getenv("MPROF_TEST_GIVEN"), "theirs");
  EXPECT_STREQ(std::getenv("MPROF_TEST_ABSENT"), "ours");
}

TEST(OpenBlas, TakesTheKernelsThatTheCpuCanRun) {
  EXPECT_EQ(openblas_core_type({.avx2_and_fma = true, .avx512 = true, .amd = false}), "SkylakeX");
  EXPECT_EQ(openblas_core_type({.avx2_and_fma = true, .avx512 = true, .amd = true}), "SkylakeX");
  EXPECT_EQ(openblas_core_type({.avx2_and_fma = true, .avx512 = false, .amd = false}), "Haswell");
  EXPECT_EQ(openblas_core_type({.avx2_and_fma = true, .avx512 = false, .amd = true}), "Zen");
  EXPECT_EQ(openblas_core_type({}), "");
}

/// What every declaration owes its readers.
TEST(Registry, EachVariantIsDeclaredInFull) {
  const Registry& registry = Registry::instance();
  const std::filesystem::path kernels = std::filesystem::path(MPROF_SOURCE_DIR) / "kernels";
  for (const RegisteredVariant* each : registry.variants()) {
    const VariantInfo& info = each->info;
    if (test::is_of_a_test(info)) continue;
    SCOPED_TRACE(info.id);
    EXPECT_FALSE(info.title.empty());
    EXPECT_FALSE(info.idea.empty());
    EXPECT_FALSE(info.references.empty());
    EXPECT_TRUE(std::filesystem::exists(kernels / info.source_file));
    EXPECT_TRUE(std::filesystem::exists(kernels / (info.id + ".md")));
    EXPECT_TRUE(info.baseline.empty() || registry.variant(info.baseline) != nullptr) << info.baseline;
    EXPECT_EQ(info.baseline.empty(), info.expectations.empty());
    for (const ParameterInfo& parameter : info.parameters) {
      EXPECT_THAT(parameter.values, ::testing::Contains(parameter.default_value));
      EXPECT_FALSE(parameter.meaning.empty());
    }
    const FamilyInfo& family = registry.family(info.family)->info();
    for (const Expectation& expectation : info.expectations) {
      EXPECT_TRUE(find_metric(expectation.metric) != nullptr ||
                  find_quality(family, expectation.metric) != nullptr)
          << expectation.metric;
      EXPECT_FALSE(expectation.because.empty());
      EXPECT_GT(expectation.factor.value_or(2), 1);
    }
  }
}

TEST(SourceChecksum, IsOfTheVariantsFileAndOfWhatItIncludes) {
  std::set<std::string> checksums;
  for (const RegisteredVariant* variant : Registry::instance().variants()) {
    const std::string checksum = source_checksum(variant->info.source_file);
    EXPECT_TRUE(checksum.starts_with("sha256:")) << variant->info.id;
    EXPECT_TRUE(checksums.insert(checksum).second) << variant->info.id << " has that of another one";
    EXPECT_NE(checksum, sha256_of_text(*source_text(variant->info.source_file)))
        << variant->info.id << " includes nothing of its family";
  }
  EXPECT_FALSE(checksums.empty());
  EXPECT_EQ(source_checksum("conv/nothing.cu"), "");
}

}  // namespace
}  // namespace mprof
