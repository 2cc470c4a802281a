# SPDX-License-Identifier: MIT
# What a build can be told. The presets set these.
set(MPROF_CUDA AUTO CACHE STRING "Build the CUDA parts: AUTO (when the toolkit is found), ON or OFF")
option(MPROF_BUILD_TESTS "Build the tests" OFF)
option(MPROF_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
option(MPROF_SANITIZE "Address and undefined-behaviour sanitizers; with Clang also the fuzzers" OFF)
option(MPROF_STATIC "Link third-party libraries statically where the system has them so" OFF)
# Most of the time of a build from nothing is headers and templates, which each unit of compilation works through anew. What a
# change costs is then so many files instead of one.
set(MPROF_UNITY OFF CACHE STRING "How many files of a target are compiled as one; OFF: each alone")
# A compiler cache compares preprocessed text, and passes on what comes with a precompiled header. Clang takes none where
# flags of the sanitizers differ.
set(precompile ON)
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache OR MPROF_SANITIZE)
  set(precompile OFF)
endif()
option(MPROF_PRECOMPILED_HEADERS "Parse the headers of other projects once for all files" ${precompile})
# The CPU variants are only honest rivals with vector instructions. x86-64-v3 (AVX2, FMA) is any server since 2015;
# mprof checks at start-up and says so where it is missing.
set(MPROF_CPU_ARCH x86-64-v3 CACHE STRING "-march of the host code; empty for the compiler's default")

# The usual linker takes a tenth of the time of a build with tests.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld MPROF_HAS_LLD)
if(MPROF_HAS_LLD AND MPROF_BUILD_TESTS)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# An installed mprof finds the libraries that a bundle brings along, and so do those libraries each other: a RUNPATH, the
# linker's newer default, would count for mprof's own libraries only. Libraries outside the system's folders are found where they
# were at the build. In the build folder the path is the same. Otherwise CMake pads it with empty elements, to replace it at the
# installation, and each empty element is the current directory (tests/cli/loading.test.mjs).
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
add_link_options(-Wl,--disable-new-dtags)
