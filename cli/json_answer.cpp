// SPDX-License-Identifier: MIT
#include "cli/json_answer.hpp"

#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mprof::cli {

JsonAnswer::JsonAnswer(bool is_wanted) : is_wanted_(is_wanted) {
  if (!is_wanted) return;
  std::fflush(stdout);
  standard_output_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (standard_output_ >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

JsonAnswer::~JsonAnswer() {
  give_back();
}

void JsonAnswer::give_back() {
  if (standard_output_ < 0) return;
  std::fflush(stdout);
  ::dup2(standard_output_, STDOUT_FILENO);
  ::close(standard_output_);
  standard_output_ = -1;
}

void JsonAnswer::print(std::string_view schema, const nlohmann::ordered_json& document) {
  if (!is_wanted_) return;
  give_back();
  nlohmann::ordered_json named{{"schema", schema}};
  named.update(document);
  fmt::print("{}\n", named.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace mprof::cli
