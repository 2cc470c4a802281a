// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "model/run.hpp"

/// Whether the times of two runs were taken under like conditions.
namespace mprof {

/// The times that a difference in conditions changes, whatever the code does.
enum class Touched {
  host_times,    ///< another CPU: device times are free of it
  gpu_variants,  ///< another GPU: a variant that runs on the CPU is free of it
  family_times,  ///< other inputs of a family: its qualities too
  all_times
};

/// A difference in conditions: times that it touches say nothing of the code.
struct Unlike {
  std::string text{};
  Touched touched = Touched::all_times;
  std::string family{};  ///< of which inputs differ
};

/// How runs differ beside their times, as sentences without a full stop: "GPU driver: 570.1 in A, 580.2 in
/// B".
struct Differences {
  /// Another machine (identifying_facts), other conditions on it (condition_facts), inputs with other
  /// contents.
  std::vector<Unlike> unlike;
  /// Another mprof, other libraries or facts of the machine: worth knowing, and runs of one side have none.
  std::vector<std::string> build;
  /// Worth knowing: a quick run, an unfinished one, how many GPUs measured.
  std::vector<std::string> named;
};

/// `name_a` and `name_b` are what the sentences call the runs. What only one of them knows is no difference
/// in conditions.
[[nodiscard]] Differences differences_between(const Run& a, const Run& b, const std::string& name_a = "A",
                                              const std::string& name_b = "B");

/// What they are, as sentences.
[[nodiscard]] std::vector<std::string> texts_of(const std::vector<Unlike>& unlike);

/// Throws Error(incomparable), and names each difference, unless the runs come from one machine, one build
/// and the same inputs: otherwise their rounds do not belong to one thing. The message calls the runs by
/// `names`.
void require_one_origin(const std::vector<Run>& runs, const std::vector<std::string>& names);

}  // namespace mprof
