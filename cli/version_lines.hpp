// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "runner/watch/watcher.hpp"

namespace mprof::cli {

/// What `mprof watch` prints.
class VersionLines final : public WatchListener {
 public:
  /// `file`: what is watched, as the user gave it.
  explicit VersionLines(std::string file) : file_(std::move(file)) {}

  void is_measured(Version version) override;
  void is_unchanged() override;
  void is_refused(const Error& why) override;
  void waits() override;

 private:
  void show_verdicts(const Version& version) const;

  std::string file_;
  std::map<std::string, Version> right_;  ///< the last version of each variant that was right
};

}  // namespace mprof::cli
