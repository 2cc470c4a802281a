// SPDX-License-Identifier: MIT
#include <set>

#include <gtest/gtest.h>

#include "model/run_file.hpp"
#include "report/analysis/analysis.hpp"
#include "report/views/views.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

/// The names of all members, but not those of charts, which belong to the scripts that draw them.
void collect_members(const nlohmann::json& view, std::set<std::string>& names) {
  const bool is_chart = view.is_object() && view.contains("kind") && view.contains("file");
  if (is_chart) return;
  for (const auto& [name, member] : view.items()) {
    if (view.is_object()) names.insert(name);
    if (member.is_structured()) collect_members(member, names);
  }
}

/// A template's author finds every member of a view in its document.
TEST(ViewDocument, NamesEveryMember) {
  const std::string document = read_file(std::string(MPROF_SOURCE_DIR) + "/docs/formats/view.md");
  std::set<std::string> names;
  const std::string golden = std::string(MPROF_SOURCE_DIR) + "/tests/golden/";
  for (const mprof::Run& run : {samples::gpu(), samples::troubled(), samples::swept(), samples::empty_run(),
                                read_run(golden + "h200")}) {
    collect_members(milestone_page(analyse(run), read_materials(run, golden + "h200")).view, names);
  }
  for (const std::string& name : names) {
    if (name.starts_with("has_")) continue;
    EXPECT_NE(document.find("`" + name), std::string::npos) << "docs/formats/view.md does not name " << name;
  }
}

}  // namespace
}  // namespace mprof
