# SPDX-License-Identifier: MIT
# How a folder becomes a target.

function(mprof_configure_target target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow -lineinfo --expt-relaxed-constexpr>)
  # GCC 12 warns of overlaps and overflows that cannot be wherever a string literal is added to a std::string (GCC bug
  # 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-stringop-overflow>)
    # At -O3 it warns of what it made of loops that it unrolled itself. At -O1, in preset dev, both warnings hold.
    target_compile_options(${target} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-Wno-aggressive-loop-optimizations -Wno-maybe-uninitialized>)
  endif()
  if(MPROF_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  endif()
  # A plug-in's file alone tells its registration from the others'.
  if(MPROF_UNITY AND NOT target MATCHES "_plugins$")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${MPROF_UNITY})
  endif()
  if(MPROF_CPU_ARCH)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=${MPROF_CPU_ARCH}>)
  endif()
  if(MPROF_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
    # Coverage of the libraries that it calls is what guides a fuzzer; without it its inputs are blind guesses.
    if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND target MATCHES "^(mprof_model|mprof_inputs|fuzz_.*)$")
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endif()
endfunction()

# mprof_static_library(FOLDER PUBLIC ... PRIVATE ... [PRECOMPILED NAME]): every .cpp of the folder and of those in it, as
# the target mprof_FOLDER, with _ for each /; with the precompiled headers of that name, otherwise the standard ones.
function(mprof_static_library folder)
  cmake_parse_arguments(arg "" "PRECOMPILED" "PUBLIC;PRIVATE" ${ARGN})
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED standard)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  string(REPLACE "/" "_" name ${folder})
  add_library(mprof_${name} STATIC ${sources})
  target_link_libraries(mprof_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  mprof_configure_target(mprof_${name})
  mprof_use_precompiled(mprof_${name} ${arg_PRECOMPILED})
endfunction()

# mprof_plugin_library(NAME API files... PUBLIC ... PRIVATE ...): the API files make a static library mprof_NAME;
# all other sources of the folder register themselves at start-up, so they are an OBJECT library mprof_NAME_plugins
# (the linker drops an object of an archive that nothing refers to) which each program links by name. Files in a
# subfolder cuda/ need CUDA's headers and are cmake/cuda.cmake's; those in a family's plugin/ are for sources from outside;
# those in common/loaded/ make libraries that are loaded at their first use.
function(mprof_plugin_library name)
  cmake_parse_arguments(arg "" "" "API;PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/${name}/(cuda|[^/]*/plugin|common/loaded)/")
  list(TRANSFORM arg_API PREPEND ${CMAKE_SOURCE_DIR}/)
  list(REMOVE_ITEM sources ${arg_API})
  add_library(mprof_${name} STATIC ${arg_API})
  target_link_libraries(mprof_${name} PUBLIC ${arg_PUBLIC})
  mprof_configure_target(mprof_${name})
  add_library(mprof_${name}_plugins OBJECT ${sources})
  target_link_libraries(mprof_${name}_plugins PUBLIC mprof_${name} ${arg_PRIVATE})
  mprof_configure_target(mprof_${name}_plugins)
  mprof_use_precompiled(mprof_${name}_plugins plugins)
endfunction()

# mprof_embed(NAME SYMBOL [BELOW folder] SOURCES files...): the files' bytes become part of mprof_NAME, found by their base
# name, or by their path below the folder, with mprof::embedded::SYMBOL(name) (cmake/embedded.hpp.in).
function(mprof_embed name symbol)
  cmake_parse_arguments(arg "" "BELOW" "SOURCES" ${ARGN})
  set(assembly ".section .note.GNU-stack,\"\",@progbits\n.section .rodata\n")
  set(declarations "")
  set(rows "")
  set(names "")
  set(index 0)
  foreach(file IN LISTS arg_SOURCES)
    if(arg_BELOW)
      file(RELATIVE_PATH base ${arg_BELOW} ${file})
    else()
      get_filename_component(base ${file} NAME)
    endif()
    set(label mprof_${symbol}_${index})
    string(APPEND assembly ".global ${label}\n.global ${label}_end\n${label}:\n.incbin \"${file}\"\n${label}_end:\n.byte 0\n")
    string(APPEND declarations "extern \"C\" const char ${label}[];\nextern \"C\" const char ${label}_end[];\n")
    string(APPEND rows "  if (name == \"${base}\") return std::string_view(${label}, static_cast<std::size_t>(${label}_end - ${label}));\n")
    string(APPEND names "\"${base}\", ")
    math(EXPR index "${index} + 1")
  endforeach()
  set(generated ${CMAKE_BINARY_DIR}/generated/embedded)
  file(CONFIGURE OUTPUT ${generated}/${symbol}.S CONTENT "${assembly}" @ONLY)
  set_source_files_properties(${generated}/${symbol}.S PROPERTIES OBJECT_DEPENDS "${arg_SOURCES}")
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded.hpp.in ${generated}/${symbol}.hpp @ONLY)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded.cpp.in ${generated}/${symbol}.cpp @ONLY)
  target_sources(mprof_${name} PRIVATE ${generated}/${symbol}.S ${generated}/${symbol}.cpp)
  target_include_directories(mprof_${name} PRIVATE ${CMAKE_BINARY_DIR}/generated)
endfunction()

# mprof_version(NAME): version and git revision, looked up at each build, as part of mprof_NAME.
function(mprof_version name)
  set(output ${CMAKE_BINARY_DIR}/generated/version.cpp)
  add_custom_target(mprof_version_file BYPRODUCTS ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${output} -DVERSION=${PROJECT_VERSION}
      "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
      "-DFLAGS=${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}} -march=${MPROF_CPU_ARCH}"
      -P ${CMAKE_SOURCE_DIR}/cmake/version.cmake)
  target_sources(mprof_${name} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # it changes with each commit
  add_dependencies(mprof_${name} mprof_version_file)
endfunction()

# libmprof_openblas.so, which the variants that multiply with OpenBLAS load.
function(mprof_openblas_library)
  add_library(mprof_openblas_library SHARED ${CMAKE_SOURCE_DIR}/kernels/common/loaded/openblas.cpp)
  mprof_configure_target(mprof_openblas_library)
  target_link_libraries(mprof_openblas_library PRIVATE mprof_openblas)
  target_link_options(mprof_openblas_library PRIVATE LINKER:--exclude-libs,ALL)
  set_target_properties(mprof_openblas_library PROPERTIES OUTPUT_NAME mprof_openblas CXX_VISIBILITY_PRESET hidden
    UNITY_BUILD OFF INSTALL_RPATH "$ORIGIN/.." LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/mprof)
  add_dependencies(mprof_kernels_plugins mprof_openblas_library)
  set_target_properties(mprof_kernels_plugins PROPERTIES INTERFACE_LINK_DEPENDS $<TARGET_FILE:mprof_openblas_library>)
  install(TARGETS mprof_openblas_library LIBRARY DESTINATION lib/mprof)
endfunction()

# libmprof_os_runtime.so, which stands before libc's functions in a process that is traced: it shows those alone, and brings
# no library along. Not with the sanitizers, which stand there themselves.
function(mprof_os_runtime)
  add_library(mprof_os_runtime SHARED ${CMAKE_SOURCE_DIR}/injection/os_runtime.cpp)
  mprof_configure_target(mprof_os_runtime)
  target_compile_options(mprof_os_runtime PRIVATE -O2 -U_FORTIFY_SOURCE)
  target_link_libraries(mprof_os_runtime PRIVATE ${CMAKE_DL_LIBS})
  target_link_options(mprof_os_runtime PRIVATE -static-libstdc++ -static-libgcc LINKER:-z,nodelete LINKER:--exclude-libs,ALL)
  set_target_properties(mprof_os_runtime PROPERTIES CXX_VISIBILITY_PRESET hidden UNITY_BUILD OFF
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/injection)
  install(TARGETS mprof_os_runtime LIBRARY DESTINATION lib/mprof)
endfunction()

file(GLOB MPROF_TEMPLATE_FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/templates/*)
list(APPEND MPROF_TEMPLATE_FILES ${MPROF_ECHARTS} ${MPROF_PRISM})
