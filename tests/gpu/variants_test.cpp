#include "tests/kernels/each_variant.hpp"

namespace mprof::conv {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, EachVariant, ::testing::ValuesIn(variants_of("cuda")), name_of);

/// The table, so that none is lost.
TEST(CudaVariants, AreAllThere) {
  const std::vector<std::string> all = variants_of("cuda");
  for (const char* id :
       {"conv/baseline", "conv/streams", "conv/restrict_unroll", "conv/constant_mask", "conv/shared_2d",
        "conv/shared_1d", "conv/fp16", "conv/fp16x2", "conv/coarsened", "conv/channel_reduction",
        "conv/unroll_matmul", "conv/constant_matmul", "conv/fused_matmul", "conv/register_tiled",
        "conv/tensor_core", "conv/cublas", "conv/cudnn", "conv/per_layer"}) {
    EXPECT_NE(std::find(all.begin(), all.end(), id), all.end()) << id;
  }
}

}  // namespace
}  // namespace mprof::conv
