// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <vector>

#include "tests/kernels/each_convolution.hpp"
#include "tests/kernels/each_map.hpp"
#include "tests/kernels/lenet_support.hpp"

namespace mprof {

namespace conv {
INSTANTIATE_TEST_SUITE_P(Cuda, EachConvolution, ::testing::ValuesIn(mprof::test::variants_of("conv", "cuda")),
                         mprof::test::name_of);

/// More images than all multiprocessors take at once, and of an odd number.
TEST(BandedWgmma, IsRightWhereABlockHasManyImages) {
  const Declaration& declaration = declaration_of<Convolution>("conv/banded_wgmma");
  if (const auto reason = declaration.unavailable()) GTEST_SKIP() << *reason;
  for (const std::string precision : {"tf32", "fp16"}) {
    const auto convolution = declaration.make({{"precision", precision}});
    for (const std::size_t images : {1U, 2U, 265U, 801U}) {
      const Verification result =
          run(*convolution, layers[1].shape(images), *declaration.tolerance, images == 265 ? 2 : 1);
      EXPECT_TRUE(result.passed) << precision << ", " << images << " images: " << result.finding;
    }
  }
}
}  // namespace conv

namespace elementwise {
INSTANTIATE_TEST_SUITE_P(Cuda, EachMap, ::testing::ValuesIn(mprof::test::variants_of("elementwise", "cuda")),
                         mprof::test::name_of);
}  // namespace elementwise

namespace {

std::vector<std::string> variants_on_gpu() {
  std::vector<std::string> ids;
  for (const Family* family : Registry::instance().families()) {
    std::ranges::copy(test::variants_of(family->info().id, "cuda"), std::back_inserter(ids));
  }
  return ids;
}

/// The issues' tables, so that none is lost.
TEST(CudaVariants, AreAllThere) {
  const std::vector<std::string> all = variants_on_gpu();
  for (const char* id : {"conv/baseline",
                         "conv/streams",
                         "conv/restrict_unroll",
                         "conv/constant_mask",
                         "conv/shared_2d",
                         "conv/shared_1d",
                         "conv/fp16",
                         "conv/fp16x2",
                         "conv/coarsened",
                         "conv/channel_reduction",
                         "conv/unroll_matmul",
                         "conv/constant_matmul",
                         "conv/fused_matmul",
                         "conv/register_tiled",
                         "conv/tensor_core",
                         "conv/cublas",
                         "conv/cublaslt",
                         "conv/cudnn",
                         "conv/per_layer",
                         "conv/banded",
                         "conv/banded_split",
                         "conv/banded_wgmma",
                         "conv/pipeline",
                         "conv/pipeline_half",
                         "elementwise/baseline",
                         "elementwise/coalesced",
                         "elementwise/float4",
                         "elementwise/hardware_functions",
                         "elementwise/shared",
                         "elementwise/waves"}) {
    EXPECT_NE(std::find(all.begin(), all.end(), id), all.end()) << id;
  }
}

/// Any family's, as a run has it: loaded, bound with its defaults, checked.
class EachVariantOnGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(EachVariantOnGpu, IsRightOnItsFamilysFirstProblem) {
  const RegisteredVariant& variant = *Registry::instance().variant(GetParam());
  const Family& family = *Registry::instance().family(variant.info.family);
  if (const auto reason = variant.unavailable()) GTEST_SKIP() << *reason;
  if (!family.inputs().empty()) {
    MPROF_NEED_IMAGES();
  }
  const auto workload = family.load(family.default_problems(true).front(), conv::test::input_paths());
  const auto execution = workload->bind(GetParam(), {});
  NoObserver observer;
  const ExecutionResult result = execution->run(observer, {.proof = Proof::all_items});
  EXPECT_FALSE(result.verification.empty());
  for (const Verification& op : result.verification) EXPECT_TRUE(op.passed) << op.op << ": " << op.finding;
  EXPECT_LE(result.qualities.size(), family.info().qualities.size());
}

INSTANTIATE_TEST_SUITE_P(Cuda, EachVariantOnGpu, ::testing::ValuesIn(variants_on_gpu()), test::name_of);

}  // namespace
}  // namespace mprof
