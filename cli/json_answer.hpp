// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace mprof::cli {

/// The one document that a verb with --json leaves on standard output. What the verb tells people meanwhile
/// goes to standard error.
class JsonAnswer {
 public:
  /// Where none is wanted, everything is as without it.
  explicit JsonAnswer(bool is_wanted);
  /// Standard output is what it was.
  ~JsonAnswer();
  JsonAnswer(const JsonAnswer&) = delete;
  JsonAnswer& operator=(const JsonAnswer&) = delete;

  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  /// Prints it, where it is wanted, with the name of its schema as the first member.
  void print(std::string_view schema, const nlohmann::ordered_json& document);

 private:
  void give_back();

  bool is_wanted_;
  int standard_output_ = -1;  ///< -1: it is where it was
};

}  // namespace mprof::cli
