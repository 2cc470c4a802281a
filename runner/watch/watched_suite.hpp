// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inputs/suite_file.hpp"
#include "runner/watch/watcher.hpp"

namespace mprof {

/// A suite and its programs: each version of them is built, verified and timed.
class WatchedSuite final : public Watched {
 public:
  /// `name`: the suite's file, as the user gave it. Throws Error(usage) for what is wrong with it.
  WatchedSuite(std::string name, WatchRequest request);

  [[nodiscard]] const std::filesystem::path& file() const override { return file_; }
  [[nodiscard]] Stamp sources() const override;
  [[nodiscard]] Stamp programs() const override;
  [[nodiscard]] Run plan(const WatchContext& context) override;
  void measure(Run& run, ResultDirectory& directory, const WatchContext& context) override;
  [[nodiscard]] std::vector<WatchedVariant> variants(const Run& run) const override;

 private:
  std::string name_;
  std::filesystem::path file_;
  WatchRequest request_;
  Suite suite_;                                  ///< of the version that was planned last
  std::vector<std::filesystem::path> programs_;  ///< that nothing builds: somebody's to save
};

}  // namespace mprof
