// run.json from anywhere: any bytes are a run, which then reads back the same, or an Error with exit code 2.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/run_file.hpp"
#include "system/error.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const mprof::Run run = mprof::parse_run({reinterpret_cast<const char*>(data), size}, "run.json");
    const std::string text = mprof::run_to_json(run);
    if (mprof::run_to_json(mprof::parse_run(text, "run.json")) != text) std::abort();
  } catch (const mprof::Error& error) {
    if (error.code() != mprof::ExitCode::usage) std::abort();
  }
  return 0;
}
