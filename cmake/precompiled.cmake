# SPDX-License-Identifier: MIT
# Other projects' headers, parsed once for all files that come to use them: they are half of the time that a file of the
# report takes. Never mprof's own. A file includes what it needs as if there were none of this: .ci/run has clang-tidy read
# the files without it, and MPROF_PRECOMPILED_HEADERS=OFF builds so.

# mprof_precompile(NAME headers... LIBRARIES targets...): the headers as the target mprof_headers_NAME, compiled with the
# flags that its users have.
function(mprof_precompile name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  if(NOT MPROF_PRECOMPILED_HEADERS)
    return()
  endif()
  set(empty ${CMAKE_BINARY_DIR}/generated/headers_${name}.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "// Nothing: its target holds the precompiled headers.\n")
  add_library(mprof_headers_${name} OBJECT ${empty})
  target_link_libraries(mprof_headers_${name} PRIVATE ${arg_LIBRARIES})
  target_precompile_headers(mprof_headers_${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
  mprof_configure_target(mprof_headers_${name})
endfunction()

# mprof_use_precompiled(TARGET NAME): those headers in all C++ files of the target.
function(mprof_use_precompiled target name)
  if(MPROF_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM mprof_headers_${name})
  endif()
endfunction()

set(standard_headers <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set> <span>
  <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)
mprof_precompile(standard ${standard_headers} LIBRARIES fmt::fmt)
mprof_precompile(plugins ${standard_headers} LIBRARIES fmt::fmt)
mprof_precompile(json ${standard_headers} <nlohmann/json.hpp> LIBRARIES fmt::fmt nlohmann_json::nlohmann_json)
