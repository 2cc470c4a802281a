// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/migrate/migrate.hpp"

/// What version 1 knew of its one family, and what version 2 asks for.
namespace mprof {
namespace {

constexpr const char* family_id = "conv";

/// As version 2 describes a family, for good: later versions have migrations of their own.
constexpr const char* family_text = R"({
  "id": "conv",
  "title": "Forward convolution of a LeNet on Fashion-MNIST",
  "axes": [{"name": "batch", "plural": "batches", "title": "Batch Size", "meaning": "images of one inference",
            "default": 1, "min": 1, "max": 10000}],
  "nouns": {"item": "image", "items": "images", "whole": "inference", "group": "layer", "groups": "layers",
            "op_time": "Op Time", "group_time": "Layer Time", "total_time": "Total Execution Time"},
  "qualities": [
    {"metric": "accuracy", "label": "Accuracy", "unit": "1", "better": "higher", "tolerance": 0.002,
     "meaning": "Share of the batch's images whose predicted class is the labelled one."},
    {"metric": "prediction_agreement", "label": "Agreement with the reference", "unit": "1", "better": "higher",
     "tolerance": 0.002,
     "meaning": "Share of the batch's images whose predicted class is the one that PyTorch predicts in double precision."}
  ]
})";

/// nullptr where there is none, or `json` is no object.
Json* find(Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

bool is(Json& json, const char* name, const char* value) {
  const Json* found = find(json, name);
  return found != nullptr && *found == value;
}

/// The elements of an object's array; none where there is no such thing.
std::vector<Json*> elements(Json& json, const char* name) {
  std::vector<Json*> all;
  Json* array = find(json, name);
  if (array == nullptr || !array->is_array()) return all;
  for (Json& element : *array) all.push_back(&element);
  return all;
}

Json problem_of(Json batch) {
  return {{"batch", std::move(batch)}};
}

/// The metric of a measurement or an expectation under its new name.
void rename_metric(Json& row) {
  Json* metric = find(row, "metric");
  if (metric == nullptr) return;
  if (*metric == "layer_time") *metric = "group_time";
  if (*metric == "traced_layer_time") *metric = "traced_group_time";
}

void migrate_plan(Json& plan) {
  if (find(plan, "batches") != nullptr) {
    Json problems = Json::array();
    for (Json* batch : elements(plan, "batches")) problems.push_back(problem_of(std::move(*batch)));
    plan["problems"] = Json::object({{family_id, std::move(problems)}});
    plan.erase("batches");
  }
  Json inputs = Json::object();
  for (const char* name : {"images", "weights"}) {
    Json* path = find(plan, name);
    if (path == nullptr) continue;
    inputs[name] = std::move(*path);
    plan.erase(name);
  }
  if (!inputs.empty()) plan["inputs"] = std::move(inputs);
}

/// nullptr where it is no number of images.
const Json* batch_of(Json& c) {
  Json* key = find(c, "key");
  const Json* batch = key == nullptr ? nullptr : find(*key, "batch");
  return batch != nullptr && batch->is_number_unsigned() ? batch : nullptr;
}

/// The ops for each batch of the cases, ascending.
Json problems_of(Json& run) {
  std::map<std::uint64_t, const Json*> ops_of;
  for (Json* c : elements(run, "cases")) {
    const Json* batch = batch_of(*c);
    const Json* ops = find(*c, "ops");
    if (batch != nullptr && ops != nullptr) ops_of.emplace(batch->get<std::uint64_t>(), ops);
  }
  Json problems = Json::array();
  for (const auto& [batch, ops] : ops_of) problems.push_back({{"problem", problem_of(batch)}, {"ops", *ops}});
  return problems;
}

bool is_quality(Json& row) {
  return is(row, "metric", "accuracy") || is(row, "metric", "prediction_agreement");
}

/// Whether a right output of so many images classified none of them, which a network cannot.
bool cannot_be_zero(Json& c, Json& pass) {
  constexpr std::uint64_t many = 100;
  const Json* batch = batch_of(c);
  return batch != nullptr && batch->get<std::uint64_t>() >= many && is(pass, "status", "ok");
}

/// Whether all accuracies that the run recorded are zeros, and such as stand for none.
bool never_classified(Json& run) {
  bool impossible = false;
  for (Json* c : elements(run, "cases")) {
    for (Json* pass : elements(*c, "passes")) {
      for (Json* row : elements(*pass, "measurements")) {
        if (!is_quality(*row)) continue;
        for (const Json* sample : elements(*row, "samples")) {
          if (*sample != 0) return false;
          impossible = impossible || cannot_be_zero(*c, *pass);
        }
      }
    }
  }
  return impossible;
}

void migrate_pass(Json& pass, bool with_qualities) {
  Json kept = Json::array();
  for (Json* row : elements(pass, "measurements")) {
    rename_metric(*row);
    if (with_qualities || !is_quality(*row)) kept.push_back(std::move(*row));
  }
  if (!kept.empty()) pass["measurements"] = std::move(kept);
}

void migrate_case(Json& c, bool with_qualities) {
  if (Json* found = find(c, "key"); found != nullptr && found->is_object()) {
    Json key = std::move(*found);
    c.erase("key");
    for (const char* name : {"variant", "parameters"}) {
      if (Json* part = find(key, name)) c[name] = std::move(*part);
    }
    if (Json* batch = find(key, "batch")) c["problem"] = problem_of(std::move(*batch));
  }
  if (c.is_object()) c.erase("ops");
  for (Json* pass : elements(c, "passes")) migrate_pass(*pass, with_qualities);
}

}  // namespace

Json migrate_1_to_2(Json run) {
  const bool with_qualities = !never_classified(run);
  Json family = Json::parse(family_text);
  family["problems"] = problems_of(run);
  if (!with_qualities) family.erase("qualities");
  run["families"] = Json::array({std::move(family)});
  for (Json* c : elements(run, "cases")) migrate_case(*c, with_qualities);
  if (Json* plan = find(run, "plan")) migrate_plan(*plan);
  for (Json* variant : elements(run, "variants")) {
    for (Json* expectation : elements(*variant, "expectations")) rename_metric(*expectation);
  }
  return run;
}

Json migrate_sanitizer_1_to_2(Json record) {
  for (Json* result : elements(record, "results")) {
    Json* found = find(*result, "batch");
    if (found == nullptr) continue;
    Json batch = std::move(*found);
    result->erase("batch");
    (*result)["problem"] = problem_of(std::move(batch));
  }
  return record;
}

}  // namespace mprof
