// SPDX-License-Identifier: MIT
// run.json and case files from anywhere: any bytes are a run of any schema version, or a case, which then
// reads back the same, or an Error with exit code 2.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/case_file.hpp"
#include "model/run_file.hpp"
#include "system/error.hpp"

namespace {

/// Runs a reader, whose answer may be an Error of the right kind, and nothing else that is thrown.
template <typename Read>
void expect_answer(Read&& read) {
  try {
    read();
  } catch (const mprof::Error& error) {
    if (error.code() != mprof::ExitCode::usage) std::abort();
  }
}

void expect_same(const mprof::StoredCase& stored) {
  mprof::Case c;
  c.id = stored.id;
  c.key = stored.key;
  c.passes = stored.passes;
  // Text that is no UTF-8 is replaced on writing, once: what was written reads back the same.
  const std::string text = mprof::case_to_json(c, stored.run);
  const mprof::StoredCase back = mprof::parse_case(text, "case.json");
  c.passes = back.passes;
  if (back.passes.size() != stored.passes.size() || mprof::case_to_json(c, stored.run) != text) std::abort();
  const auto folder = mprof::case_file(stored.id).lexically_normal().parent_path();
  if (folder != mprof::case_folder) std::abort();
}

void read_run(std::string_view text) {
  const mprof::Run run = mprof::parse_run(text, "run.json");
  const std::string written = mprof::run_to_json(run);
  if (mprof::run_to_json(mprof::parse_run(written, "run.json")) != written) std::abort();
  for (const mprof::Case& c : run.cases) {
    mprof::StoredCase stored;
    stored.run = mprof::run_stamp(run);
    stored.id = c.id;
    stored.key = c.key;
    stored.passes = c.passes;
    expect_same(stored);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_answer([&] { read_run(text); });
  expect_answer([&] { expect_same(mprof::parse_case(text, "case.json")); });
  return 0;
}
