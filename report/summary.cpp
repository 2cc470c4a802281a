#include "report/summary.hpp"

#include <fmt/format.h>

#include "report/analysis.hpp"
#include "report/format.hpp"
#include "report/table.hpp"

namespace mprof {
namespace {

/// The summary of one family: the case, its op times, its total time and accuracy.
Table cases_table(const FamilyResult& family) {
  Table table("cases", family.id);
  table.text("Case");
  for (std::size_t i = 0; i < family.ops.size(); ++i) {
    table.numbers(family.ops.size() == 1 ? "Op Time" : fmt::format("Op Time {}", i + 1), Unit::second);
  }
  table.numbers("Total Time", Unit::second).numbers("Accuracy").text("");
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      std::vector<Cell> cells{Cell::words(result.id)};
      for (const OpResult& op : result.ops) cells.push_back(Cell::bare(op.op_time));
      cells.push_back(Cell::bare(result.total_time));
      cells.push_back(Cell::accuracy(result.accuracy));
      cells.push_back(Cell::words(to_string(result.status)));
      table.row(std::move(cells));
    }
  }
  return table;
}

}  // namespace

std::string render_summary(const Run& run, std::size_t width) {
  const RunAnalysis analysis = analyse(run);
  std::string out;
  for (const FamilyResult& family : analysis.families) {
    const Table table = cases_table(family);
    if (!table.empty()) out += "\n" + text_table(table.view(), width) + "\n";
  }
  for (const Finding& finding : analysis.findings) {
    if (finding.severity <= Severity::broken) out += finding.text + "\n";
  }
  return out;
}

}  // namespace mprof
