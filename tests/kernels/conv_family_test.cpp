// SPDX-License-Identifier: MIT
// The family on real images: against PyTorch's numbers, and on inputs that are missing or wrong.
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/safetensors.hpp"
#include "kernels/conv/lenet/execution.hpp"
#include "kernels/conv/lenet/family.hpp"
#include "kernels/conv/lenet/reference.hpp"
#include "kernels/registry.hpp"
#include "system/error.hpp"
#include "tests/kernels/lenet_support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof::conv {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const Family& family() {
  return *Registry::instance().family("conv");
}

std::string usage_error(const InputPaths& inputs) {
  try {
    static_cast<void>(family().validate(inputs));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

std::optional<double> value_of(const std::vector<QualityValue>& qualities, std::string_view metric) {
  for (const QualityValue& quality : qualities) {
    if (quality.metric == metric) return quality.value;
  }
  return std::nullopt;
}

TEST(Family, OpsAreThoseOfTheWorkloadTable) {
  const std::vector<OpInfo> ops = family().ops(test::batch_of(10000));
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops[0].name, "layer1");
  EXPECT_EQ(ops[0].title, "layer 1: 7x7, 1 -> 4 maps");
  EXPECT_NEAR(ops[0].flops, 25.1e9, 0.05e9);
  EXPECT_NEAR(ops[0].bytes, 1.32e9, 0.005e9);
  EXPECT_EQ(ops[1].name, "layer2");
  EXPECT_EQ(ops[1].title, "layer 2: 7x7, 4 -> 16 maps");
  EXPECT_NEAR(ops[1].flops, 72.5e9, 0.05e9);
  EXPECT_NEAR(ops[1].bytes, 1.00e9, 0.005e9);
}

TEST(Family, Batches) {
  const auto batches = [](std::initializer_list<std::uint64_t> values) {
    std::vector<Problem> problems;
    for (const std::uint64_t value : values) problems.push_back(test::batch_of(value));
    return problems;
  };
  EXPECT_EQ(family().default_problems(false), batches({100, 1000, 5000, 10000}));
  EXPECT_EQ(family().default_problems(true), batches({100, 1000}));
  EXPECT_EQ(find_axis(family().info(), "batch")->max, 10000U);
  for (const std::uint64_t batch : {std::uint64_t{0}, std::uint64_t{10001}, std::uint64_t{1} << 31}) {
    EXPECT_THROW(static_cast<void>(family().load(test::batch_of(batch), test::input_paths())), Error)
        << batch;
  }
}

TEST(Family, InputsAreFilesWithTheirChecksums) {
  MPROF_NEED_IMAGES();
  const std::vector<InputFile> files = family().validate(test::input_paths());
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[0].name, "data");
  EXPECT_EQ(files[1].name, "data");
  EXPECT_EQ(files[2].name, "weights");
  EXPECT_EQ(files[3].name, "weights");
  for (const InputFile& file : files) {
    EXPECT_EQ(file.family, "conv");
    EXPECT_EQ(file.size, fs::file_size(file.path));
    EXPECT_TRUE(file.checksum.starts_with("sha256:")) << file.checksum;
  }
}

TEST(Family, RefusesToBindWhatItDoesNotKnow) {
  MPROF_NEED_IMAGES();
  const auto workload = family().load(test::batch_of(1), test::input_paths());
  EXPECT_THROW(static_cast<void>(workload->bind("conv/absent", {})), Error);
  EXPECT_THROW(static_cast<void>(workload->bind("conv/cpu_threads", {{"threads", "-1"}})), Error);
}

class OnRealImages : public ::testing::TestWithParam<const char*> {};

TEST_P(OnRealImages, OpsAreRightAndLogitsThoseOfPyTorch) {
  MPROF_NEED_IMAGES();
  constexpr std::size_t count = 16;
  const auto expected = Safetensors::read(fs::path(MPROF_SOURCE_DIR) / "data" / "lenet_vectors.safetensors")
                            .f32("logits", std::array{count, classes});
  const auto workload = family().load(test::batch_of(count), test::input_paths());
  const auto execution = workload->bind(GetParam(), {});
  NoObserver observer;
  const ExecutionResult result = execution->run(observer, {.proof = Proof::all_items});
  for (const Verification& op : result.verification) EXPECT_TRUE(op.passed) << op.op << ": " << op.finding;
  const auto logits = dynamic_cast<const LenetExecution&>(*execution).logits();
  ASSERT_EQ(logits.size(), expected.size());
  for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], expected[i], 1e-4F) << i;
}

TEST_P(OnRealImages, AccuracyOfTheFirstHundred) {
  MPROF_NEED_IMAGES();
  const auto workload = family().load(test::batch_of(100), test::input_paths());
  NoObserver observer;
  const std::vector<QualityValue> qualities = workload->bind(GetParam(), {})->run(observer, {}).qualities;
  EXPECT_DOUBLE_EQ(value_of(qualities, "accuracy").value(), 0.89);
  EXPECT_DOUBLE_EQ(value_of(qualities, "prediction_agreement").value(), 1);
}

INSTANTIATE_TEST_SUITE_P(Conv, OnRealImages,
                         ::testing::Values("conv/cpu_naive", "conv/cpu_threads", "conv/cpu_im2col_gemm",
                                           "conv/cpu_onednn"),
                         [](const auto& parameter) { return std::string(parameter.param).substr(5); });

TEST(Family, ReferenceNetworkIsThatOfPyTorch) {
  const fs::path data = fs::path(MPROF_SOURCE_DIR) / "data";
  const Safetensors vectors = Safetensors::read(data / "lenet_vectors.safetensors");
  const auto images =
      vectors.f32("images", std::array{std::size_t{16}, std::size_t{1}, image_side, image_side});
  const auto expected = vectors.f32("logits", std::array{std::size_t{16}, classes});
  const Weights weights = load_weights(data / "lenet.safetensors");
  for (const std::size_t i : {0U, 7U}) {
    const auto logits = reference_logits(
        std::span(images).subspan(i * image_side * image_side, image_side * image_side), weights);
    for (std::size_t k = 0; k < classes; ++k)
      EXPECT_NEAR(logits[k], expected[i * classes + k], 1e-5) << i << " " << k;
  }
}

TEST(Family, AccuracyIsTheRecordedOne) {
  MPROF_NEED_IMAGES();
  for (const auto& [batch, accuracy] : {std::pair{1000U, 0.9290}, std::pair{5000U, 0.9162}}) {
    const auto workload = family().load(test::batch_of(batch), test::input_paths());
    NoObserver observer;
    const std::vector<QualityValue> qualities =
        workload->bind("conv/cpu_threads", {})->run(observer, {}).qualities;
    EXPECT_NEAR(value_of(qualities, "accuracy").value(), accuracy, 1e-9) << batch;
    EXPECT_DOUBLE_EQ(value_of(qualities, "prediction_agreement").value(), 1) << batch;
  }
}

TEST(Family, ObserverSeesEachStageInOrderAndMayRepeatForward) {
  struct Script final : StageObserver {
    void stage(std::string_view op, Stage stage, const std::function<void()>& work,
               const std::function<void()>& /*reset*/) override {
      seen.emplace_back(op, stage);
      work();
      if (stage == Stage::forward) work();
    }
    std::vector<std::pair<std::string, Stage>> seen;
  };
  const Inputs inputs = test::random_inputs(2);
  const std::string id = "conv/cpu_onednn";
  LenetExecution execution(inputs, declaration_of<Convolution>(id), {});
  NoObserver once;
  execution.run(once, {});
  const std::vector<float> expected(execution.logits().begin(), execution.logits().end());
  Script script;
  execution.run(script, {});
  EXPECT_EQ(script.seen, (std::vector<std::pair<std::string, Stage>>{{"layer1", Stage::prepare},
                                                                     {"layer1", Stage::forward},
                                                                     {"layer1", Stage::finish},
                                                                     {"layer2", Stage::prepare},
                                                                     {"layer2", Stage::forward},
                                                                     {"layer2", Stage::finish}}));
  EXPECT_EQ(std::vector<float>(execution.logits().begin(), execution.logits().end()), expected);
}

/// A folder with copies of all input files, to be damaged.
class DamagedInputs : public ::testing::Test {
 protected:
  void SetUp() override {
    MPROF_NEED_IMAGES();
    const InputPaths real = test::input_paths();
    for (const char* name : {"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"}) {
      fs::copy_file(fs::path(real.at("data")) / name, directory_.path() / name);
    }
    for (const char* name : {"lenet.safetensors", "lenet_vectors.safetensors"}) {
      fs::copy_file(fs::path(real.at("weights")).parent_path() / name, directory_.path() / name);
    }
  }
  [[nodiscard]] fs::path path(const char* name) const { return directory_.path() / name; }
  [[nodiscard]] InputPaths inputs() const {
    return {{"data", directory_.path()}, {"weights", path("lenet.safetensors")}};
  }

  void overwrite(const char* name, std::streamoff from_end, std::string_view bytes) const {
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-from_end, std::ios::end);
    file << bytes;
  }
  [[nodiscard]] bool has_agreement() const {
    NoObserver observer;
    const auto workload = family().load(test::batch_of(10), inputs());
    const std::vector<QualityValue> qualities =
        workload->bind("conv/cpu_threads", {})->run(observer, {}).qualities;
    EXPECT_TRUE(value_of(qualities, "accuracy").has_value());
    return value_of(qualities, "prediction_agreement").has_value();
  }

 private:
  mprof::test::TemporaryDirectory directory_;
};

TEST_F(DamagedInputs, IntactCopiesAreFine) {
  static_cast<void>(family().validate(inputs()));
  EXPECT_TRUE(has_agreement());
}

TEST_F(DamagedInputs, MissingImages) {
  fs::remove(path("t10k-images-idx3-ubyte.gz"));
  EXPECT_THAT(usage_error(inputs()), HasSubstr("t10k-images-idx3-ubyte.gz"));
}

TEST_F(DamagedInputs, TruncatedImages) {
  fs::resize_file(path("t10k-images-idx3-ubyte.gz"), 100'000);
  EXPECT_THAT(usage_error(inputs()), HasSubstr("cut short after 100000 compressed bytes"));
}

TEST_F(DamagedInputs, LabelsWithAWrongChecksum) {
  overwrite("t10k-labels-idx1-ubyte.gz", 8, "\x01\x02\x03\x04");
  EXPECT_THAT(usage_error(inputs()), HasSubstr("incorrect data check"));
}

TEST_F(DamagedInputs, LabelsInPlaceOfImages) {
  fs::copy_file(path("t10k-labels-idx1-ubyte.gz"), path("t10k-images-idx3-ubyte.gz"),
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(usage_error(inputs()), HasSubstr("1 dimensions, expected 3"));
}

TEST_F(DamagedInputs, ImagesInPlaceOfLabels) {
  fs::copy_file(path("t10k-images-idx3-ubyte.gz"), path("t10k-labels-idx1-ubyte.gz"),
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(usage_error(inputs()), HasSubstr("3 dimensions, expected 1"));
}

TEST_F(DamagedInputs, MissingAndTruncatedWeights) {
  fs::resize_file(path("lenet.safetensors"), 1000);
  EXPECT_THAT(usage_error(inputs()), HasSubstr("lenet.safetensors"));
  fs::remove(path("lenet.safetensors"));
  EXPECT_THAT(usage_error(inputs()), HasSubstr("mprof needs the trained weights"));
}

TEST_F(DamagedInputs, WeightsOfAnotherNetwork) {
  fs::copy_file(path("lenet_vectors.safetensors"), path("lenet.safetensors"),
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(usage_error(inputs()), HasSubstr("has no tensor \"conv1.weight\""));
}

TEST_F(DamagedInputs, AWeightThatIsNaN) {
  overwrite("lenet.safetensors", 4, std::string_view("\0\0\xC0\x7F", 4));
  EXPECT_THAT(usage_error(inputs()), HasSubstr("holds nan at index"));
}

TEST_F(DamagedInputs, NoReferencePredictions) {
  fs::remove(path("lenet_vectors.safetensors"));
  static_cast<void>(family().validate(inputs()));
  EXPECT_FALSE(has_agreement());
}

TEST_F(DamagedInputs, ReferencePredictionsOfOtherWeights) {
  overwrite("lenet.safetensors", 4,
            std::string_view("\0\0\xA0\x41", 4));  // 20.0F in place of the last weight
  EXPECT_FALSE(has_agreement());
}

}  // namespace
}  // namespace mprof::conv
