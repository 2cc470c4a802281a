#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/wording/glossary.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

std::vector<std::string> terms_of(const mprof::Run& run) {
  std::vector<std::string> terms;
  for (const Term& term : glossary_of(analyse(run))) {
    EXPECT_FALSE(term.meaning.empty()) << term.term;
    terms.push_back(term.term);
  }
  return terms;
}

bool holds(const std::vector<std::string>& terms, const char* term) {
  return std::ranges::find(terms, term) != terms.end();
}

/// A GPU's run whose counters were read.
mprof::Run counted() {
  mprof::Run run = samples::gpu();
  for (Case& c : run.cases) samples::pass_of(c, Pass::counters).status = Status::ok;
  return run;
}

TEST(Glossary, ExplainsHardwareOnlyWhereARunHasSome) {
  const std::vector<std::string> on_cpu = terms_of(samples::healthy()), on_gpu = terms_of(counted());
  for (const char* term : {"Stall", "Warp instruction", "Traced", "Up to"}) {
    EXPECT_FALSE(holds(on_cpu, term)) << term;
    EXPECT_TRUE(holds(on_gpu, term)) << term;
  }
  EXPECT_TRUE(holds(on_cpu, "Op, total"));
  EXPECT_FALSE(holds(on_cpu, "Right"));
}

TEST(Glossary, HasNoCountersWithoutACountersPass) {
  mprof::Run run = counted();
  for (Case& c : run.cases)
    std::erase_if(c.passes, [](const PassResult& pass) { return pass.pass == Pass::counters; });
  EXPECT_FALSE(holds(terms_of(run), "Stall"));
  EXPECT_TRUE(holds(terms_of(run), "Traced"));
}

TEST(Glossary, LeavesOutWhatIsDoneToVariantsAlone) {
  mprof::Run run = samples::healthy();
  for (VariantInfo& info : run.variants) info.subject = Subject::program;
  const std::vector<std::string> of_programs = terms_of(run);
  for (VariantInfo& info : run.variants) info.subject = Subject::import;
  const std::vector<std::string> of_imports = terms_of(run);
  for (const char* term : {"Op, total", "Of possible", "Verified", "Sweep", "Ended by", "Modelled"}) {
    EXPECT_FALSE(holds(of_programs, term)) << term;
    EXPECT_FALSE(holds(of_imports, term)) << term;
  }
  for (const char* term : {"Time, ±", "Scaling", "Speed-up", "Faster, slower, same", "Right"}) {
    EXPECT_TRUE(holds(of_programs, term)) << term;
    EXPECT_FALSE(holds(of_imports, term)) << term;
  }
}

}  // namespace
}  // namespace mprof
