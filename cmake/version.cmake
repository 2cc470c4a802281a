# SPDX-License-Identifier: MIT
# Writes version.cpp when its contents changed. Run at each build: the revision changes without a re-configure.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE revision
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(revision unknown)
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND revision -dirty)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [=[
#include "model/version.hpp"

namespace mprof {
const char* const version = "@VERSION@";
const char* const revision = "@revision@";
const char* const compiler = "@COMPILER@";
const char* const build_type = "@BUILD_TYPE@";
const char* const build_flags = "@FLAGS@";
}  // namespace mprof
]=])
