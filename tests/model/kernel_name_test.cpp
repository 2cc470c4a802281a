// SPDX-License-Identifier: MIT
#include "model/kernel_name.hpp"

#include <gtest/gtest.h>

namespace mprof {
namespace {

using Names = std::vector<std::string>;

TEST(KernelNames, AreTheFunctionsOwn) {
  // void mprof::conv::(anonymous namespace)::tiled<16u>(float const*, float*)
  const KernelName name = kernel_name("_ZN5mprof4conv12_GLOBAL__N_15tiledILj16EEEvPKfPf");
  EXPECT_EQ(name.whole, "void mprof::conv::(anonymous namespace)::tiled<16u>(float const*, float*)");
  EXPECT_EQ(name.templated, "tiled<16u>");
  EXPECT_EQ(name.brief, "tiled");
}

TEST(KernelNames, ArePlainWithoutTemplatesAndNamespaces) {
  EXPECT_EQ(kernel_name("_Z4axpyifPKfPf").brief, "axpy");
  EXPECT_EQ(kernel_name("_ZN2nv6kernelEv").brief, "kernel");
}

TEST(KernelNames, MayHoldBracketsInTheirArguments) {
  // void apply<(anonymous namespace)::Op>((anonymous namespace)::Op, void (*)(int))
  const KernelName name = kernel_name("_Z5applyIN12_GLOBAL__N_12OpEEvT_PFviE");
  EXPECT_EQ(name.templated, "apply<(anonymous namespace)::Op>");
  EXPECT_EQ(name.brief, "apply");
}

TEST(KernelNames, ThatAreNotMangledStay) {
  EXPECT_EQ(kernel_name("sgemm_128x64_nn").brief, "sgemm_128x64_nn");
  EXPECT_EQ(kernel_name("").brief, "");
  EXPECT_EQ(kernel_name("(strange").brief, "(strange");
}

TEST(KernelNames, AreToldApartInAnOp) {
  EXPECT_EQ(distinct_kernel_names(Names{"_Z4axpyifPKfPf", "_ZN2nv6kernelEv"}), (Names{"axpy", "kernel"}));
  EXPECT_EQ(distinct_kernel_names(Names{"_Z5tiledILj16EEvPf", "_Z5tiledILj32EEvPf"}),
            (Names{"tiled<16u>", "tiled<32u>"}));
  EXPECT_EQ(distinct_kernel_names(Names{"_Z4axpyPf", "_Z4axpyPd", "_Z4axpyPi"}),
            (Names{"axpy", "axpy #2", "axpy #3"}));
}

}  // namespace
}  // namespace mprof
