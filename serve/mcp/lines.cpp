// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/analysis/kernels/hot_lines.hpp"
#include "report/text/format.hpp"
#include "serve/mcp/questions.hpp"
#include "serve/mcp/read_run.hpp"

/// The hottest source lines of a case, with what stands around them.
namespace mprof::mcp {
namespace {

constexpr std::size_t usual_lines = 10;
constexpr std::size_t longest_line_of_code = 120;

/// The line, the one before it and the one behind it; nothing where the run keeps no such file.
Json code_around(const VariantSource& source, const SourceLine& line) {
  Json code = Json::array();
  if (source.file != line.file) return code;
  std::string_view rest = source.code;
  for (std::uint32_t number_of = 1; !rest.empty() && number_of <= line.line + 1; ++number_of) {
    const std::size_t end = rest.find('\n');
    if (number_of + 1 >= line.line)
      code.push_back(fmt::format("{}: {}", number_of, foreign(rest.substr(0, end), longest_line_of_code)));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return code;
}

/// Throws Trouble where kernels of the case are known, and none is called so, nor its op.
void require_kernel(const Case& c, const std::string& name) {
  const std::vector<NamedKernel> known = known_kernels(c);
  const auto is_it = [&](const NamedKernel& one) {
    return is_called(one, name) || is_called_op(one.op, name);
  };
  if (known.empty() || std::ranges::any_of(known, is_it)) return;
  throw Trouble("bad_argument",
                fmt::format("No kernel '{}' of this case was counted or sampled.", foreign(name, 96)),
                "Leave kernel out: each row has the key of its own.");
}

}  // namespace

Answer answer_lines(const Json& arguments) {
  const ReadRun read(arguments["run"].get<std::string>());
  const FoundCase found = read.find(arguments["case"].get<std::string>());
  Answer answer("lines", arguments);
  const std::string kernel = arguments.value("kernel", "");
  if (!kernel.empty()) require_kernel(*found.result->source, kernel);
  answer.set_usual_rows(usual_lines);
  const auto source = read.materials().sources.find(found.variant->info.id);
  for (const HotLines& op : hot_lines_of(*found.result->source, std::numeric_limits<std::size_t>::max())) {
    for (const HotLine& hot : op.lines) {
      const std::string key = kernel_key(op.op, hot.line->kernel);
      if (!kernel.empty() && !is_called({op.op, hot.line->kernel}, kernel) && !is_called_op(op.op, kernel))
        continue;
      Json row{{"key", fmt::format("{}:{}:{}", key, key_of("file", hot.line->file), hot.line->line)},
               {"op", foreign(op.op)},
               {"kernel", key},
               {"name", foreign(hot.line->kernel, 96)},
               {"file", foreign(hot.line->file)},
               {"line", hot.line->line},
               {"share", number(hot.share)},
               {"issued", number(hot.issued)},
               {"waits_for", foreign(hot.most_frequent.reason)},
               {"waits_share", number(hot.most_frequent.share)}};
      if (source != read.materials().sources.end()) {
        if (Json code = code_around(source->second, *hot.line); !code.empty()) row["code"] = std::move(code);
      }
      answer.add(std::move(row));
    }
  }
  std::ranges::stable_sort(answer.rows(),
                           [](const Json& a, const Json& b) { return b["share"] < a["share"]; });
  const std::size_t lines = answer.rows().size();
  answer.say(lines == 0 ? "No line of this case was sampled."
                        : fmt::format("{}, by where warps stood when the program counter was sampled.",
                                      format::plural(lines, "hot line")));
  answer.set_units({{"share", "1"}, {"issued", "1"}, {"waits_share", "1"}});
  answer.mark_foreign({"op", "name", "file", "waits_for", "code"});
  if (lines == 0) {
    const PassResult* const pass = find_pass(*found.result->source, Pass::source);
    answer.lack("source lines",
                pass == nullptr         ? "the case has no source pass"
                : !pass->reason.empty() ? pass->reason
                : kernel.empty()        ? "the source pass found no sample with a line"
                                        : "no line of this kernel has a fiftieth of the samples",
                "Measure a variant for a GPU with the source pass.");
  } else {
    answer.lead_on("explain", {{"run", read.path()}, {"case", case_key(*found.result)}});
  }
  answer.lead_on("rows", {{"run", read.path()}, {"table", "ops"}, {"case", case_key(*found.result)}});
  return answer;
}

}  // namespace mprof::mcp
