#pragma once

/// toml++, whose assertions on its own state some broken texts fail (3.3.0: `[ }`): here they throw, in every
/// build, so that a text ends neither the program nor what it knows of itself.
namespace mprof {
struct TomlIsUnsure {};
[[noreturn]] inline void toml_is_unsure() {
  throw TomlIsUnsure();
}
}  // namespace mprof

#undef NDEBUG  // with it toml++ would take for granted what it could have asked
#define TOML_ASSERT(holds) (static_cast<bool>(holds) ? void() : mprof::toml_is_unsure())

#include <toml++/toml.h>
