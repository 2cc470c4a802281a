// SPDX-License-Identifier: MIT
#include "inputs/suite_presets.hpp"

namespace mprof {
namespace {

/// The lines of a well-known course's project (University of Illinois, ECE 408), in all of its editions.
SuitePreset course() {
  SuitePreset preset{.name = "course", .ops = {"layer1", "layer2"}};
  preset.nouns = {.item = "image",
                  .items = "images",
                  .whole = "program",
                  .group = "layer",
                  .groups = "layers",
                  .op_time_title = "Op Time",
                  .group_time_title = "Layer Time",
                  .total_time_title = "Total Execution Time"};
  preset.numbers = {{"op_time", NumberPattern("Op Time: {ms} ms")},
                    {"group_time", NumberPattern("Layer Time: {ms} ms")},
                    {"accuracy", NumberPattern("Test Accuracy: {ratio}")}};
  preset.qualities = {{.metric = "accuracy",
                       .label = "Accuracy",
                       .meaning = "Share of the images whose predicted class is the labelled one, as the "
                                  "program prints it.",
                       .tolerance = 0.002}};
  return preset;
}

}  // namespace

const std::vector<SuitePreset>& suite_presets() {
  static const std::vector<SuitePreset> all{course()};
  return all;
}

}  // namespace mprof
