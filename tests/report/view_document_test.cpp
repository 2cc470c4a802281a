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

/// All members of the views of reports.
std::set<std::string> members_of_reports() {
  std::set<std::string> names;
  const std::string golden = std::string(MPROF_SOURCE_DIR) + "/tests/golden/";
  for (const mprof::Run& run : {samples::gpu(), samples::troubled(), samples::swept(), samples::empty_run(),
                                read_run(golden + "h200")}) {
    collect_members(milestone_page(analyse(run), read_materials(run, golden + "h200")).view, names);
  }
  return names;
}

std::string view_document() {
  return read_file(std::string(MPROF_SOURCE_DIR) + "/docs/formats/view.md");
}

bool is_named(const std::string& text, const std::string& member) {
  return text.find("`" + member + "`") != std::string::npos ||
         text.find("`" + member + "[]`") != std::string::npos;
}

/// The names that a template and its partials ask for; of "sections.answer" both.
void collect_asked(const std::string& name, const std::string& extension, std::set<std::string>& seen,
                   std::set<std::string>& asked) {
  const std::string file = name + "." + extension;
  if (!seen.insert(file).second) return;
  const std::string text = read_file(std::string(MPROF_SOURCE_DIR) + "/templates/" + file);
  for (std::size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at + 2)) {
    const std::size_t begin = text.find_first_not_of("{#^/&> ", at);
    const std::string tag = text.substr(begin, text.find_first_of(" }", begin) - begin);
    if (text[at + 2] == '>') {
      collect_asked(tag, extension, seen, asked);
    } else if (tag != ".") {
      asked.insert(tag.substr(0, tag.find('.')));
      if (tag.find('.') != tag.npos) asked.insert(tag.substr(tag.find('.') + 1));
    }
  }
}

std::set<std::string> asked_by_reports() {
  std::set<std::string> asked, seen;
  collect_asked("milestone", "html.mustache", seen, asked);
  for (const char* name : {"brief", "milestone", "evidence"}) collect_asked(name, "md.mustache", seen, asked);
  return asked;
}

/// A template's author finds every member of a view in its document.
TEST(ViewDocument, NamesEveryMember) {
  const std::string document = view_document();
  for (const std::string& name : members_of_reports()) {
    if (name.starts_with("has_")) continue;
    EXPECT_NE(document.find("`" + name), std::string::npos) << "docs/formats/view.md does not name " << name;
  }
}

/// Programs, traces and scripts have members that none of these runs has: the document names them.
TEST(ViewDocument, ATemplateAsksForNothingThatNoViewHas) {
  const std::string document = view_document();
  const std::set<std::string> members = members_of_reports();
  for (const std::string& name : asked_by_reports())
    EXPECT_TRUE(members.contains(name) || is_named(document, name)) << "no view has " << name;
}

TEST(ViewDocument, AMemberIsForATemplate) {
  // text_table() and the pages read these; `device` is for templates of the readers' own.
  const std::set<std::string> read_by_code{"repeat",        "spare",    "unrecorded", "variants",
                                           "says_in_short", "in_short", "device"};
  const std::set<std::string> asked = asked_by_reports();
  for (const std::string& name : members_of_reports())
    EXPECT_TRUE(asked.contains(name) || read_by_code.contains(name)) << "no template uses " << name;
}

}  // namespace
}  // namespace mprof
