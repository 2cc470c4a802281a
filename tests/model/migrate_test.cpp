// SPDX-License-Identifier: MIT
#include "model/migrate/migrate.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "messages.hpp"
#include "model/case_file.hpp"
#include "model/json_archive.hpp"
#include "model/run_file.hpp"
#include "model/sanitizer_file.hpp"
#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using test::expect_contains;
using test::message_of;

/// A run as schema version 1 has it, with one case; `accuracy` is what it recorded.
Json old_run(double accuracy, int batch = 1000, const char* status = "ok") {
  return Json{
      {"schema_version", 1},
      {"tool", {{"version", "0.1.0"}, {"revision", "abc"}}},
      {"command_line", {"mprof", "run"}},
      {"state", "complete"},
      {"started", "2026-11-21T02:51:07Z"},
      {"plan",
       {{"variants", {"conv/a"}},
        {"batches", {batch}},
        {"settings", Json::object()},
        {"passes", {"timing"}},
        {"quick", false},
        {"seed", 7},
        {"timeout", 600.0},
        {"stopping",
         {{"min_samples", 7}, {"max_samples", 100}, {"max_seconds", 15.0}, {"relative_half_width", 0.01}}},
        {"images", "/images"},
        {"weights", "/weights"}}},
      {"environment", Json::object()},
      {"ceilings", Json::array()},
      {"variants",
       {{{"id", "conv/a"},
         {"family", "conv"},
         {"title", "A"},
         {"idea", ""},
         {"device", "cpu"},
         {"expectations", {{{"metric", "layer_time"}, {"direction", "decreases"}}}}}}},
      {"cases",
       {{{"id", "conv/a@1000"},
         {"key", {{"variant", "conv/a"}, {"parameters", Json::object()}, {"batch", batch}}},
         {"ops", {{{"name", "layer1"}, {"flops", 1e9}, {"bytes", 2e6}}}},
         {"passes",
          {{{"pass", "timing"},
            {"status", status},
            {"seconds", 1.0},
            {"measurements",
             {{{"metric", "layer_time"}, {"op", "layer1"}, {"source", "measured"}, {"samples", {0.5, 0.25}}},
              {{"metric", "accuracy"}, {"source", "measured"}, {"samples", {accuracy}}}}}}}}}}}};
}

mprof::Run migrated(const Json& document) {
  return parse_run(document.dump(), "run.json");
}

TEST(Migration, ABatchIsAProblem) {
  const mprof::Run run = migrated(old_run(0.9));
  const Problem problem{{{"batch", 1000}}};
  EXPECT_EQ(run.schema_version, run_schema_version);
  EXPECT_EQ(run.plan.problems, (std::map<std::string, std::vector<Problem>>{{"conv", {problem}}}));
  EXPECT_EQ(run.plan.inputs,
            (std::map<std::string, std::string>{{"images", "/images"}, {"weights", "/weights"}}));
  ASSERT_EQ(run.cases.size(), 1U);
  EXPECT_EQ(run.cases[0].id, "conv/a@1000");
  EXPECT_EQ(run.cases[0].key, (CaseKey{"conv/a", {}, problem}));
  EXPECT_EQ(run.cases[0].ops, (std::vector<OpInfo>{{"layer1", "", 1e9, 2e6, 0}}));
  EXPECT_EQ(case_id(run.cases[0].key, run.variants[0]), run.cases[0].id);
}

TEST(Migration, ALayerIsAGroup) {
  const mprof::Run run = migrated(old_run(0.9));
  EXPECT_EQ(find_measurement(run.cases[0], "layer_time", "layer1"), nullptr);
  ASSERT_NE(find_measurement(run.cases[0], "group_time", "layer1"), nullptr);
  EXPECT_EQ(find_measurement(run.cases[0], "group_time", "layer1")->samples,
            (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(run.variants[0].expectations[0].metric, "group_time");
}

TEST(Migration, TheFamilyHasTheWordsThatItsReadersKnow) {
  const mprof::Run run = migrated(old_run(0.9));
  ASSERT_EQ(run.families.size(), 1U);
  const FamilyInfo& family = run.families[0];
  EXPECT_EQ(family.id, "conv");
  EXPECT_EQ(family.nouns.item, "image");
  EXPECT_EQ(family.nouns.group_time_title, "Layer Time");
  EXPECT_EQ(find_axis(family, "batch")->title, "Batch Size");
  EXPECT_EQ(find_quality(family, "accuracy")->tolerance, 0.002);
  EXPECT_EQ(find_quality(family, "prediction_agreement")->better, Better::higher);
  EXPECT_EQ(family.problems.size(), 1U);
}

TEST(Migration, AnAccuracyThatStandsForNoneIsNoQuality) {
  const auto has_quality = [](const mprof::Run& run) {
    const bool measured = find_measurement(run.cases[0], "accuracy") != nullptr;
    const bool described = find_quality(run.families[0], "accuracy") != nullptr;
    EXPECT_EQ(measured, described);
    EXPECT_NE(find_measurement(run.cases[0], "group_time", "layer1"), nullptr);
    return described;
  };
  EXPECT_TRUE(has_quality(migrated(old_run(0.9))));
  EXPECT_FALSE(has_quality(migrated(old_run(0))))
      << "right, and none of 1000 images classified: there was none";
  EXPECT_TRUE(has_quality(migrated(old_run(0, 1)))) << "a single image can be misjudged";
  EXPECT_TRUE(has_quality(migrated(old_run(0, 1000, "wrong")))) << "a wrong output can misjudge all";
}

/// Whatever stands in place of a member is refused by the field, or read where it does not matter.
TEST(Migration, NothingInARecordBreaksIt) {
  const Json whole = old_run(0.9);
  const Json flat = whole.flatten();
  std::size_t refused = 0;
  for (const auto& [path, value] : flat.items()) {
    for (const char* odd : {"null", "7", "-1", "\"x\"", "[]", "{}", "[{}]"}) {
      for (Json::json_pointer at(path); !at.empty(); at = at.parent_pointer()) {
        Json changed = whole;
        changed[at] = Json::parse(odd);
        try {
          static_cast<void>(migrated(changed));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ExitCode::usage);
          EXPECT_EQ(std::string(error.what()).rfind("run.json", 0), 0U) << error.what();
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(refused, 200U);
}

// ---- the runs that were recorded so far ------------------------------------

/// A measurement as version 1 has it.
Measurement in_old_words(Measurement m) {
  if (m.metric == "group_time") m.metric = "layer_time";
  if (m.metric == "traced_group_time") m.metric = "traced_layer_time";
  return m;
}

Json without(Json object, const std::vector<const char*>& members) {
  for (const char* member : members) object.erase(member);
  return object;
}

std::size_t expect_same_measurements(const PassResult& pass, const Json& old_pass, const std::string& id) {
  const Json rows = old_pass.value("measurements", Json::array());
  EXPECT_EQ(pass.measurements.size(), rows.size()) << id;
  for (std::size_t i = 0; i < std::min(pass.measurements.size(), rows.size()); ++i)
    EXPECT_EQ(json::to_json(in_old_words(pass.measurements[i])), rows[i]) << id;
  return rows.size();
}

/// Returns how many measurements were compared.
std::size_t expect_same_case(const Case& c, const Json& old_case) {
  EXPECT_EQ(c.id, old_case["id"]);
  EXPECT_EQ(c.key.variant, old_case["key"]["variant"]);
  EXPECT_EQ(value_on(c.key.problem, "batch"), old_case["key"]["batch"].get<std::uint64_t>());
  EXPECT_EQ(json::to_json(c.key.parameters), old_case["key"]["parameters"]);
  EXPECT_EQ(json::to_json(c.ops), old_case["ops"]);
  std::size_t measurements = 0;
  EXPECT_EQ(c.passes.size(), old_case["passes"].size());
  for (std::size_t i = 0; i < std::min(c.passes.size(), old_case["passes"].size()); ++i) {
    measurements += expect_same_measurements(c.passes[i], old_case["passes"][i], c.id);
    PassResult rest = c.passes[i];
    rest.measurements.clear();
    EXPECT_EQ(json::to_json(rest), without(old_case["passes"][i], {"measurements"})) << c.id;
  }
  return measurements;
}

void expect_same_plan(const Plan& plan, const Json& old_plan) {
  EXPECT_EQ(plan.inputs.at("images"), old_plan["images"]);
  EXPECT_EQ(plan.inputs.at("weights"), old_plan["weights"]);
  Json batches = Json::array();
  for (const Problem& problem : plan.problems.at("conv"))
    batches.push_back(value_on(problem, "batch").value());
  EXPECT_EQ(batches, old_plan["batches"]);
  EXPECT_EQ(without(json::to_json(plan), {"problems", "inputs"}),
            without(old_plan, {"images", "weights", "batches"}));
}

void expect_same_variants(const std::vector<VariantInfo>& variants, const Json& old_variants) {
  ASSERT_EQ(variants.size(), old_variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Json& old_variant = old_variants[i];
    EXPECT_EQ(variants[i].expectations.size(), old_variant.value("expectations", Json::array()).size());
    EXPECT_EQ(without(json::to_json(variants[i]), {"expectations"}), without(old_variant, {"expectations"}));
  }
}

void expect_described(const mprof::Run& run) {
  ASSERT_EQ(run.families.size(), 1U);
  EXPECT_NE(find_quality(run.families[0], "accuracy"), nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(run.families[0].problems, {}, &ProblemInfo::problem));
  for (const Case& c : run.cases) {
    EXPECT_NE(find_problem(run.families[0], c.key.problem), nullptr) << c.id;
    EXPECT_FALSE(c.ops.empty()) << c.id;
    EXPECT_NE(find_measurement(c, "accuracy"), nullptr) << c.id;
  }
}

using Snapshot = std::map<fs::path, std::pair<std::uintmax_t, fs::file_time_type>>;

Snapshot snapshot(const fs::path& directory) {
  Snapshot files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) files[entry.path()] = {entry.file_size(), entry.last_write_time()};
  }
  return files;
}

class RecordedRun : public ::testing::TestWithParam<const char*> {
 protected:
  fs::path directory = fs::path(MPROF_SOURCE_DIR) / GetParam();
};

TEST_P(RecordedRun, HasEveryValueWhereItWas) {
  const Json old_run = json::parse(read_file(directory / "run.json"), "raw");
  ASSERT_EQ(old_run["schema_version"], 1) << "this test is of the runs of version 1";
  const mprof::Run run = read_record(directory);
  ASSERT_EQ(run.cases.size(), old_run["cases"].size());
  std::size_t measurements = 0;
  for (std::size_t i = 0; i < run.cases.size(); ++i)
    measurements += expect_same_case(run.cases[i], old_run["cases"][i]);
  EXPECT_GT(measurements, 100U);
  expect_same_plan(run.plan, old_run["plan"]);
  expect_same_variants(run.variants, old_run["variants"]);
  const Json rest = json::to_json(run);
  for (const char* field :
       {"tool", "command_line", "state", "started", "finished", "environment", "ceilings"})
    EXPECT_EQ(rest[field], old_run[field]) << field;
  expect_described(run);
}

TEST_P(RecordedRun, IsTheSameAsItsTwinOfThisVersionAndStaysAsItIs) {
  const Snapshot before = snapshot(directory);
  const mprof::Run run = read_record(directory);
  EXPECT_EQ(snapshot(directory), before) << "reading is pure";
  const test::TemporaryDirectory temporary;
  write_record(run, temporary.path());
  EXPECT_EQ(read_record(temporary.path()), run);
  const Json twin = json::parse(read_file(temporary.path() / "run.json"), "twin");
  EXPECT_EQ(twin["schema_version"], run_schema_version);
  for (const Json& c : twin["cases"]) EXPECT_FALSE(c.contains("passes"));
}

INSTANTIATE_TEST_SUITE_P(All, RecordedRun,
                         ::testing::Values("tests/golden/v1/whole", "tests/golden/v1/sweep",
                                           "tests/golden/h200", "tests/golden/run_a", "tests/golden/run_b"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '/' || c == '-'; }, '_');
                           return name;
                         });

TEST(Migration, TheSanitizersRecordNamesAProblem) {
  const fs::path directory = fs::path(MPROF_SOURCE_DIR) / "tests/golden/v1/whole";
  const Json raw = json::parse(read_file(directory / "check.json"), "raw");
  const auto record = read_sanitizer_record(sanitizer_file(directory));
  ASSERT_TRUE(record);
  ASSERT_EQ(record->results.size(), raw["results"].size());
  for (std::size_t i = 0; i < raw["results"].size(); ++i) {
    Json result = json::to_json(record->results[i].mprof);
    EXPECT_EQ(result, raw["results"][i]["mprof"]);
    EXPECT_EQ(record->results[i].variant, raw["results"][i]["variant"]);
    EXPECT_EQ(to_string(record->results[i].tool), raw["results"][i]["tool"]);
    EXPECT_EQ(record->results[i].problem,
              (Problem{{{"batch", raw["results"][i]["batch"].get<std::uint64_t>()}}}));
  }
}

TEST(Migration, TheSanitizersNewRecordComesBeforeTheOld) {
  const test::TemporaryDirectory temporary;
  temporary.write("check.json", R"({"schema_version": 1, "results": [{"variant": "conv/a", "tool": "memcheck",
    "batch": 100, "status": "skipped", "reason": "no GPU", "started": "2026-11-21T02:51:07Z",
    "mprof": {"version": "0.1.0", "revision": "abc"}}]})");
  const fs::path file = sanitizer_file(temporary.path());
  ASSERT_TRUE(read_sanitizer_record(file));
  EXPECT_EQ(read_sanitizer_record(file)->results.at(0).problem, (Problem{{{"batch", 100}}}));
  write_sanitizer_record({}, file);
  EXPECT_TRUE(read_sanitizer_record(file)->results.empty());
  const fs::path elsewhere = temporary.write("elsewhere.json", "{}");
  fs::create_directory(temporary.path() / "run");
  fs::create_symlink(elsewhere, temporary.path() / "run" / "check.json");
  expect_contains(
      message_of([&] { static_cast<void>(read_sanitizer_record(sanitizer_file(temporary.path() / "run"))); }),
      "by a symbolic link");
}

}  // namespace
}  // namespace mprof
