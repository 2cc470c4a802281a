// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/common/poison.hpp"
#include "kernels/conv/lenet/family.hpp"
#include "kernels/conv/lenet/lenet.hpp"
#include "kernels/conv/lenet/plugin_convolution.hpp"
#include "kernels/conv/lenet/verification.hpp"
#include "kernels/registry.hpp"
#include "runner/source/build.hpp"
#include "system/clock.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof::conv {
namespace {

namespace fs = std::filesystem;

const fs::path samples = fs::path(MPROF_SOURCE_DIR) / "tests/source/course";

/// Samples in the shape of the course's files, for the GPU by the stub of nvcc: what is tried is how they are
/// called, not what a GPU makes of them.
class CourseFile : public ::testing::Test {
 protected:
  // A sample that several tests load is compiled once.
  static void SetUpTestSuite() {
    cache = std::make_unique<mprof::test::TemporaryDirectory>();
    ::setenv("MPROF_CACHE", cache->path().c_str(), 1);
    ::setenv("CUDA_HOME", (fs::path(MPROF_SOURCE_DIR) / "tests/source/stub_cuda").c_str(), 1);
  }
  static void TearDownTestSuite() { cache.reset(); }

  std::shared_ptr<const Plugin> plugin(const std::string& sample) { return plugin_of(samples / sample); }

  /// A sample's file, with one text of it replaced.
  std::shared_ptr<const Plugin> plugin_with(const fs::path& sample, const std::string& before,
                                            const std::string& after) {
    const fs::path folder = directory.path() / "changed";
    fs::create_directories(folder);
    fs::copy(samples / sample.parent_path(), folder,
             fs::copy_options::overwrite_existing | fs::copy_options::recursive);
    std::string text = read_file(samples / sample);
    const std::size_t at = text.find(before);
    EXPECT_NE(at, std::string::npos) << before;
    write_file(folder / sample.filename(), text.replace(at, before.size(), after));
    return plugin_of(folder / sample.filename());
  }

  std::shared_ptr<const Plugin> plugin_of(const fs::path& source) {
    const LibraryFolder folder;
    BuildSettings settings;
    settings.frame = ConvFamily().frame_of(read_file(source));
    EXPECT_TRUE(settings.frame) << source << " was not recognised";
    return std::make_shared<const Plugin>(build_library(source, settings, folder, steady_clock()).library);
  }

  /// One execution whose op's output was poisoned before each forward(), as in a run.
  static Verification run(Convolution& convolution, const Shape& shape, unsigned seed, int times = 1) {
    const std::vector<float> input = mprof::test::random_values(shape.input_size(), seed);
    const std::vector<float> mask = mprof::test::random_values(shape.mask_size(), seed + 1);
    std::vector<float> output(shape.output_size());
    poison(output);
    convolution.prepare(shape, input.data(), mask.data(), output.data());
    for (int i = 0; i < times; ++i) {
      convolution.poison_output(poison_pattern);
      convolution.forward();
    }
    convolution.finish();
    return verify(to_verify("test", shape, input, mask, output, single_precision_tolerance));
  }

  static void expect_right(Convolution& convolution, const Shape& shape, unsigned seed, int times = 1) {
    const Verification result = run(convolution, shape, seed, times);
    EXPECT_TRUE(result.passed) << result.finding;
  }

  inline static std::unique_ptr<mprof::test::TemporaryDirectory> cache;
  mprof::test::TemporaryDirectory directory;
};

void expect_declared(const Plugin& plugin, const std::string& device, const std::string& baseline, bool odd) {
  EXPECT_EQ(plugin.info().family, "conv");
  EXPECT_EQ(plugin.info().device, device);
  EXPECT_EQ(plugin.info().baseline, baseline);
  EXPECT_EQ(plugin.is_for_odd_sizes(), odd);
}

TEST_F(CourseFile, IsRightWhateverTheEdition) {
  struct Sample {
    const char* file;
    bool has_stride;
    const char* title;
  };
  for (const Sample& sample :
       {Sample{"2020/new-forward.cu", false, "Course file of 2020"},
        Sample{"2021/new-forward.cu", false, "Course file of 2021 and since 2024"},
        Sample{"2022/new-forward.cu", true, "Course file of 2022 and 2023"},
        Sample{"2024_streams/m3-forward.cu", false, "Course file of 2021 and since 2024"}}) {
    SCOPED_TRACE(sample.file);
    const auto loaded = plugin(sample.file);
    expect_declared(*loaded, "cuda", "conv/baseline", sample.has_stride);
    EXPECT_EQ(loaded->info().title, sample.title);
    PluginConvolution convolution(loaded, {});
    for (const Layer& layer : layers) expect_right(convolution, layer.shape(2), 1);
    expect_right(convolution, layers[0].shape(3), 7, 3);
    for (const Shape& shape : convolution.other_shapes()) expect_right(convolution, shape, 3);
    EXPECT_EQ(convolution.other_shapes().size(), sample.has_stride ? 4U : 0U);
  }
}

/// What CUDA says is told at the student's function and call, not at a line of mprof's.
TEST_F(CourseFile, TellsWhichFunctionAndWhichCallFailed) {
  struct Mistake {
    const char* before;
    const char* after;
    const char* message;
  };
  for (const Mistake& mistake :
       {Mistake{"cudaMemcpy(*device_k_ptr, host_k,", "cudaMemcpy(*device_k_ptr, nullptr,",
                "CUDA error in conv_forward_gpu_prolog(): cudaMemcpy (host to device, 784 bytes): invalid "
                "argument"},
        Mistake{
            "const dim3 block(TILE, TILE, 1);",
            "cudaMemcpy(nullptr, device_x, 4, cudaMemcpyDeviceToHost);  // handled\n  cudaGetLastError();\n"
            "  const dim3 block(64, 64, 1);",
            "CUDA error in conv_forward_gpu(): the launch of kernel_of_the_stub (grid 4 x 100 x 2, block "
            "64 x 64 x 1): invalid configuration argument"},
        Mistake{"const dim3 block(TILE, TILE, 1);", "const dim3 block(64, 64, 1);",
                "CUDA error in conv_forward_gpu(): the launch of kernel_of_the_stub (grid 4 x 100 x 2, block "
                "64 x 64 x 1): invalid configuration argument"},
        Mistake{"float sum = 0;", "float sum = 0;\n  __trap();",
                "CUDA error in conv_forward_gpu(): unspecified launch failure, of a kernel that was launched "
                "before; the last one is kernel_of_the_stub (grid 4 x 100 x 2, block 8 x 8 x 1)"},
        Mistake{"cudaMemcpy(host_y, device_y,", "cudaMemcpy(nullptr, device_y,",
                "CUDA error in conv_forward_gpu_epilog(): cudaMemcpy (device to host, 204800 bytes): invalid "
                "argument"}}) {
    SCOPED_TRACE(mistake.after);
    PluginConvolution convolution(plugin_with("2021/new-forward.cu", mistake.before, mistake.after), {});
    try {
      run(convolution, layers[0].shape(2), 1);
      ADD_FAILURE() << "nothing failed";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), mistake.message);
    }
  }
}

TEST_F(CourseFile, OfTheCpuIsCalledWithItsStride) {
  const auto plain = plugin("cpu/cpu-new-forward.cc");
  expect_declared(*plain, "cpu", "conv/cpu_naive", false);
  PluginConvolution convolution(plain, {});
  expect_right(convolution, layers[1].shape(2), 1);

  const auto strided = plugin("cpu_stride/cpu-new-forward.cc");
  expect_declared(*strided, "cpu", "conv/cpu_naive", true);
  PluginConvolution with_stride(strided, {});
  for (const Shape& shape : with_stride.other_shapes()) expect_right(with_stride, shape, 2);
}

/// A cached output would not show where the poison is not where forward() writes.
TEST_F(CourseFile, WritesItsOutputInForwardWhereverTheWorkIs) {
  for (const char* sample : {"2021/new-forward.cu", "2024_streams/m3-forward.cu"}) {
    SCOPED_TRACE(sample);
    PluginConvolution convolution(plugin(sample), {});
    const Shape shape = layers[0].shape(1);
    expect_right(convolution, shape, 1);  // the first execution decides what the op is
    const std::vector<float> input = mprof::test::random_values(shape.input_size(), 1);
    const std::vector<float> mask = mprof::test::random_values(shape.mask_size(), 2);
    std::vector<float> output(shape.output_size());
    poison(output);
    convolution.prepare(shape, input.data(), mask.data(), output.data());
    EXPECT_EQ(std::bit_cast<std::uint32_t>(output[0]), poison_pattern) << "prepare() computed";
    convolution.forward();
    convolution.poison_output(poison_pattern);
    convolution.finish();  // without a forward(): what it copies out must be the poison
    EXPECT_EQ(std::bit_cast<std::uint32_t>(output[0]), poison_pattern);
  }
}

int told = 0;
std::string told_name;

TEST_F(CourseFile, TellsOfItsLaunchesWithoutAProfiler) {
  tell_of_plugin_launches([](const void* kernel, mprof_kernel_name name) {
    ++told;
    told_name = name(kernel);
  });
  PluginConvolution convolution(plugin("2021/new-forward.cu"), {});
  const Shape shape = layers[0].shape(1);
  expect_right(convolution, shape, 1);
  told = 0;
  expect_right(convolution, shape, 1, 3);
  // The marker before, the marker behind, three times a kernel and what poisons its output.
  EXPECT_EQ(told, 2 + 3 * 2);
  EXPECT_EQ(told_name, "kernel_of_the_stub");
}

}  // namespace
}  // namespace mprof::conv
