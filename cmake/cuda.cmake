# SPDX-License-Identifier: MIT
# The CUDA parts: cuda/, collectors/cuda/ and every .cu file of kernels/, when the toolkit is found. Sets MPROF_WITH_CUDA.
file(GLOB MPROF_CUDA_KERNELS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/*/*.cu
  ${CMAKE_SOURCE_DIR}/kernels/*/device/*.cu)
# Those of a GPU's own instructions (wgmma), which no later GPU has: compiled for compute capability 9.0 and nothing else,
# whatever the others are compiled for. They share no kernel with other files, whose copy of it would be another.
set(MPROF_CUDA_SM90A_KERNELS ${MPROF_CUDA_KERNELS})
list(FILTER MPROF_CUDA_SM90A_KERNELS INCLUDE REGEX "_sm90a\\.cu$")
list(FILTER MPROF_CUDA_KERNELS EXCLUDE REGEX "_sm90a\\.cu$")
# What registers itself, and is therefore no part of the library: the device, and the collectors that need it.
file(GLOB MPROF_CUDA_PLUGINS CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/cuda/device.cpp ${CMAKE_SOURCE_DIR}/collectors/cuda/*.cpp)
file(GLOB MPROF_CUDA_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cuda/*.cpp ${CMAKE_SOURCE_DIR}/cuda/*.cu)
list(REMOVE_ITEM MPROF_CUDA_SOURCES ${CMAKE_SOURCE_DIR}/cuda/device.cpp)
set(MPROF_WITH_CUDA OFF)

# A macro, not a function: a language is enabled in the scope that calls.
macro(mprof_enable_cuda)
  find_package(CUDAToolkit QUIET)
  if(NOT CMAKE_CUDA_COMPILER AND CUDAToolkit_NVCC_EXECUTABLE)
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  if(CUDAToolkit_FOUND AND CMAKE_CUDA_COMPILER)
    # For the GPU that is here; where there is none, for one that every later one can run (by its PTX), since each more
    # costs as much time again. scripts/bundle asks for all.
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      if(EXISTS /dev/nvidiactl)
        set(CMAKE_CUDA_ARCHITECTURES native)
      else()
        set(CMAKE_CUDA_ARCHITECTURES 90)
      endif()
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # which CMake 3.25 does not know of nvcc
    set(MPROF_WITH_CUDA ON)
    message(STATUS "CUDA ${CUDAToolkit_VERSION}: building for ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(MPROF_CUDA STREQUAL AUTO)
    message(STATUS "CUDA: the toolkit was not found; building without it")
  else()
    message(FATAL_ERROR "MPROF_CUDA is ON and the CUDA toolkit was not found: put nvcc on PATH, or set CUDAToolkit_ROOT.")
  endif()
endmacro()

if(MPROF_CUDA)
  mprof_enable_cuda()
else()
  message(STATUS "CUDA: off")
endif()

# mprof_injection(NAME sources...): the library libmprof_NAME.so that programs of the user's load. It brings no library along
# and shows no symbol but those that it is loaded for, so that nothing in the program meets something of mprof's.
function(mprof_injection name)
  add_library(mprof_${name} SHARED ${ARGN})
  target_include_directories(mprof_${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  mprof_configure_target(mprof_${name})
  target_link_options(mprof_${name} PRIVATE -static-libstdc++ -static-libgcc LINKER:-z,nodelete
    LINKER:--version-script=${CMAKE_SOURCE_DIR}/injection/exports.map)
  set_target_properties(mprof_${name} PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/injection/exports.map)
  set_target_properties(mprof_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD OFF
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/injection)
  install(TARGETS mprof_${name} LIBRARY DESTINATION lib/mprof)
endfunction()

# mprof_cuda: what kernels and collectors share (errors, owned handles, CUPTI). mprof_cuda_plugins: the device and its
# collectors; nothing without CUDA. The .cu files of kernels/ join the kernels' plugins.
function(mprof_cuda_plugins)
  if(NOT MPROF_WITH_CUDA)
    add_library(mprof_cuda_plugins INTERFACE)
    return()
  endif()
  add_library(mprof_cuda STATIC ${MPROF_CUDA_SOURCES})
  target_link_libraries(mprof_cuda PUBLIC mprof_model CUDA::cudart_static PRIVATE ${CMAKE_DL_LIBS})
  # Launches of kernels go through cuda/launch_counts.cpp, in whatever is linked with it.
  foreach(launch cudaLaunchKernel __cudaLaunchKernel cudaLaunchCooperativeKernel cudaLaunchKernelExC)
    target_link_options(mprof_cuda INTERFACE LINKER:--wrap=${launch})
  endforeach()
  # Where CUPTI is looked for last: in the toolkit of this build.
  target_compile_definitions(mprof_cuda PRIVATE MPROF_CUDA_LIBRARY_DIR="${CUDAToolkit_LIBRARY_DIR}")
  # What the line tables of kernels are relative to.
  set_source_files_properties(cuda/line_tables.cpp PROPERTIES COMPILE_DEFINITIONS MPROF_SOURCE_ROOT="${CMAKE_SOURCE_DIR}")
  # Its session has members of types that no other file knows.
  set_source_files_properties(cuda/pc_sampler.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  mprof_configure_target(mprof_cuda)
  # Likewise compute-sanitizer.
  cmake_path(GET CUDAToolkit_BIN_DIR PARENT_PATH toolkit)
  target_compile_definitions(mprof_runner PRIVATE MPROF_CUDA_TOOLKIT="${toolkit}")

  add_library(mprof_cuda_plugins OBJECT ${MPROF_CUDA_PLUGINS})
  target_link_libraries(mprof_cuda_plugins PUBLIC mprof_collectors mprof_cuda)
  mprof_configure_target(mprof_cuda_plugins)

  mprof_injection(trace injection/trace.cpp injection/call_stacks.cpp injection/cupti_functions.cpp injection/cupti_library.cpp
    injection/device_launches.cpp injection/graph_nodes.cpp injection/journal_writer.cpp injection/launch_log.cpp
    injection/native_frames.cpp injection/nvtx_callbacks.cpp injection/nvtx_payloads.cpp injection/own_memory.cpp
    injection/python_frames.cpp injection/records.cpp injection/window_gate.cpp model/trace/op_name.cpp
    model/trace/window.cpp system/glob.cpp)

  mprof_injection(ranges injection/ranges.cpp injection/nvtx_calls.cpp injection/journal_writer.cpp)

  mprof_injection(counters injection/counters.cpp injection/cupti_functions.cpp injection/cupti_library.cpp injection/driver_functions.cpp
    injection/journal_writer.cpp injection/nvtx_calls.cpp injection/open_ranges.cpp
    injection/range_profiler.cpp injection/session_plan.cpp injection/window_gate.cpp model/trace/counter_request.cpp
    model/trace/op_name.cpp model/trace/window.cpp system/glob.cpp)

  mprof_injection(source injection/source.cpp injection/context_sampler.cpp injection/cupti_functions.cpp
    injection/cupti_library.cpp injection/journal_writer.cpp injection/nvtx_calls.cpp injection/window_gate.cpp
    model/trace/op_name.cpp model/trace/window.cpp system/glob.cpp)

  target_sources(mprof_kernels_plugins PRIVATE ${MPROF_CUDA_KERNELS})
  target_link_libraries(mprof_kernels_plugins PUBLIC mprof_cuda)
  if(MPROF_CUDA_SM90A_KERNELS)
    add_library(mprof_kernels_sm90a STATIC ${MPROF_CUDA_SM90A_KERNELS})
    set_target_properties(mprof_kernels_sm90a PROPERTIES CUDA_ARCHITECTURES 90a-real)
    target_link_libraries(mprof_kernels_sm90a PUBLIC mprof_kernels mprof_cuda)
    mprof_configure_target(mprof_kernels_sm90a)
    target_link_libraries(mprof_kernels_plugins PUBLIC mprof_kernels_sm90a)
  endif()
endfunction()
