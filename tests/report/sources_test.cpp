// SPDX-License-Identifier: MIT
#include "report/materials/sources.hpp"

#include <regex>

#include <gtest/gtest.h>

#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

constexpr std::string_view cuda_source = R"(// The head.
#include <string>

namespace mprof::conv {
namespace {

__global__ void declared_only(float* output, int n);

/// What it does.
template <unsigned tile>
__global__ void __launch_bounds__(tile* tile)
    conv_tiled(const float* input,
               float* output) {
  if (threadIdx.x == 0) {
    output[0] = input[0];
  }
}

__global__ void conv_plain(float* output) {
  output[0] = 1;
}

void launch() {
  conv_plain<<<1, 1>>>(nullptr);
}

}  // namespace
}  // namespace mprof::conv
)";

TEST(Sources, FindsKernelsWithWhatStandsAboveThem) {
  const auto found = excerpts_of(cuda_source);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "conv_tiled");
  EXPECT_EQ(found[0].first_line, 9U);
  EXPECT_EQ(found[0].last_line, 17U);
  EXPECT_TRUE(found[0].text.starts_with("/// What it does.\ntemplate <unsigned tile>\n"));
  EXPECT_TRUE(found[0].text.ends_with("\n}\n"));
  EXPECT_EQ(found[1].name, "conv_plain");
  EXPECT_EQ(found[1].text, "__global__ void conv_plain(float* output) {\n  output[0] = 1;\n}\n");
}

TEST(Sources, WithoutAKernelTheForwardPassStandsForIt) {
  const auto found = excerpts_of(
      "class X {\n  void prepare() override {\n  }\n\n  /// Works.\n  void forward() override {\n"
      "    work();\n  }\n};\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "forward");
  EXPECT_EQ(found[0].text, "/// Works.\nvoid forward() override {\n  work();\n}\n");
  EXPECT_EQ(found[0].first_line, 5U);
  EXPECT_EQ(found[0].last_line, 8U);
}

TEST(Sources, AnUnfinishedFunctionIsNone) {
  EXPECT_TRUE(excerpts_of("__global__ void k() {\n  never_closed();\n").empty());
  EXPECT_TRUE(excerpts_of("").empty());
}

TEST(Sources, AreReadFromTheRunAndNowhereElse) {
  const test::TemporaryDirectory directory;
  write_file(directory.path() / "kernels/conv/x.cu", cuda_source);
  write_file(directory.path() / "kernels/conv/x.md", "# conv/x\n");
  write_file(directory.path() / "secret.cu", "secret");
  VariantInfo info;
  info.id = "conv/x";
  info.source_file = "conv/x.cu";
  const VariantSource source = read_source(directory.path(), info);
  EXPECT_EQ(source.file, "kernels/conv/x.cu");
  EXPECT_EQ(source.code, cuda_source);
  EXPECT_EQ(source.story, "# conv/x\n");
  for (const char* file : {"../secret.cu", "/etc/passwd", "conv/../../secret.cu", "conv/none.cu", ""}) {
    info.source_file = file;
    EXPECT_EQ(read_source(directory.path(), info).code, "") << file;
  }
  info.source_file = "conv/x.cu";
  EXPECT_EQ(read_source({}, info).code, "");
}

/// Times, shares and registers belong to a setting and a machine: the run's tables have them.
TEST(Stories, NameNoNumberThatOnlyARunCanTell) {
  const std::regex measured(R"((^|[^A-Za-z0-9.])[0-9.]+ (ms|µs|%|registers|GB/s|TFLOP/s)( |,|\.|;|:|$))");
  std::size_t stories = 0;
  const std::filesystem::path kernels = std::filesystem::path(MPROF_SOURCE_DIR) / "kernels";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kernels)) {
    if (entry.path().extension() != ".md") continue;
    ++stories;
    std::smatch found;
    const std::string story = read_file(entry.path());
    EXPECT_FALSE(std::regex_search(story, found, measured)) << entry.path() << ": " << found.str();
  }
  EXPECT_GT(stories, 20U);
}

TEST(Sources, NoLinkThatLeadsOutIsFollowed) {
  const test::TemporaryDirectory directory, elsewhere;
  write_file(elsewhere.path() / "secret.cu", "secret");
  std::filesystem::create_directories(directory.path() / "kernels/conv");
  std::filesystem::create_symlink(elsewhere.path() / "secret.cu", directory.path() / "kernels/conv/x.cu");
  VariantInfo info;
  info.id = "conv/x";
  info.source_file = "conv/x.cu";
  EXPECT_EQ(read_source(directory.path(), info).code, "");
}

}  // namespace
}  // namespace mprof
