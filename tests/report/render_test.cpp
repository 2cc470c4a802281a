// SPDX-License-Identifier: MIT
#include "report/page/render.hpp"

#include <gtest/gtest.h>

#include "system/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using nlohmann::json;

TEST(Templates, AUsersFileReplacesTheEmbeddedOne) {
  const test::TemporaryDirectory directory;
  directory.write("page.html.mustache", "<p>{{text}}</p>{{> _part}}");
  directory.write("_part.html.mustache", "{{#list}}[{{.}}]{{/list}}{{^list}}none{{/list}}");
  const Templates templates(directory.path());
  EXPECT_EQ(render_html(templates, "page", {{"text", "<b> & \"x\" {{list}}"}, {"list", {"1", "<2>"}}}),
            "<p>&lt;b&gt; &amp; &quot;x&quot; {{list}}</p>[1][&lt;2&gt;]");
  EXPECT_EQ(render_html(templates, "page", {{"text", ""}, {"list", json::array()}}), "<p></p>none");
  EXPECT_FALSE(templates.load("style.css").empty()) << "what is not there comes from inside";
}

TEST(Templates, ErrorsNameTheFileAndTheNextStep) {
  const test::TemporaryDirectory directory;
  directory.write("open.html.mustache", "{{#a}} never closed");
  directory.write("lost.html.mustache", "{{> _nowhere}}");
  const Templates templates(directory.path());
  for (const char* name : {"open", "lost", "missing"}) {
    try {
      (void)render_html(templates, name, json::object());
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find(".html.mustache"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(Templates(directory.path() / "nowhere"), Error);
}

TEST(Templates, TextLeavesEverythingAndSqueezesEmptyLines) {
  const test::TemporaryDirectory directory;
  directory.write("page.text.mustache", "\n{{a}}\n\n\n{{b}}\n\n");
  EXPECT_EQ(render_text(Templates(directory.path()), "page", {{"a", "<&>"}, {"b", "|"}}), "<&>\n\n|\n");
}

TEST(JsonForScript, CannotEndItsElement) {
  const std::string text = json_for_script({{"a", "</script><!--\xff"}});
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(json::parse(text)["a"], "</script><!--\ufffd");
}

}  // namespace
}  // namespace mprof
