// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// What the rules of explanations and of advice have their facts from; the thresholds are ours.
namespace mprof::literature {

inline constexpr std::string_view warp_stalls =
    "Nsight Compute documentation, Profiling Guide: warp stall reasons";
inline constexpr std::string_view speed_of_light =
    "Nsight Compute documentation, Profiling Guide: Speed of Light";
inline constexpr std::string_view memory_optimizations =
    "CUDA C++ Best Practices Guide: memory optimizations";
inline constexpr std::string_view data_transfer =
    "CUDA C++ Best Practices Guide: data transfer between host and device";
inline constexpr std::string_view execution_configuration =
    "CUDA C++ Best Practices Guide: execution configuration optimizations";
inline constexpr std::string_view time_equation =
    "J. Hennessy, D. Patterson: Computer Architecture, chapter 1: time is instructions times cycles per "
    "instruction";
inline constexpr std::string_view lower_occupancy =
    "V. Volkov: Better Performance at Lower Occupancy, GTC 2010";
inline constexpr std::string_view latency_hiding =
    "V. Volkov: Understanding Latency Hiding on GPUs, 2016: warps needed are latency times issue rate";
inline constexpr std::string_view roofline =
    "S. Williams, A. Waterman, D. Patterson: Roofline, CACM 52(4), 2009: bytes over bandwidth bound the time";
inline constexpr std::string_view fusion =
    "W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, chapter 16";
inline constexpr std::string_view tiling =
    "W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, chapters 5 and 6";
inline constexpr std::string_view warp_matrix = "CUDA C++ Programming Guide: warp matrix functions";
inline constexpr std::string_view fast_algorithms =
    "A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural Networks, CVPR 2016";
inline constexpr std::string_view control_flow =
    "CUDA C++ Best Practices Guide: control flow; a warp executes each path that one of its threads takes";
inline constexpr std::string_view half_math = "CUDA Math API Reference: half2 arithmetic";
inline constexpr std::string_view constant_memory =
    "CUDA C++ Programming Guide: constant memory; a load is served address by address";
inline constexpr std::string_view local_memory = "CUDA C++ Programming Guide: local memory";
inline constexpr std::string_view launching =
    "CUDA C++ Best Practices Guide: timing; CUDA C++ Programming Guide: graphs";
inline constexpr std::string_view overlapped_transfers =
    "M. Harris: How to Overlap Data Transfers in CUDA C/C++, NVIDIA Technical Blog, 2012";
inline constexpr std::string_view ordered_allocation =
    "CUDA C++ Programming Guide: stream ordered memory allocator";
inline constexpr std::string_view amdahl = "G. Amdahl: Validity of the single processor approach, AFIPS 1967";
inline constexpr std::string_view drepper =
    "U. Drepper: What Every Programmer Should Know About Memory, 2007";
inline constexpr std::string_view nvml = "NVML documentation: clocks and the reasons why they are lowered";
inline constexpr std::string_view profiling_guide =
    "Nsight Compute documentation, Profiling Guide: metrics, warp stall reasons, Speed of Light";
inline constexpr std::string_view asynchronous =
    "CUDA C++ Programming Guide: asynchronous concurrent execution";

}  // namespace mprof::literature
