#include "runner/protocol.hpp"

#include <algorithm>
#include <array>

#include "model/json_archive.hpp"

namespace mprof {
namespace {

constexpr std::array<std::string_view, 2> job_kinds{"survey", "measure"};
constexpr std::array<std::string_view, 4> message_kinds{"surveyed", "begin", "sample", "end"};

template <class Enum, std::size_t n>
bool value_of(const std::array<std::string_view, n>& names, std::string_view text, Enum& value) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return false;
  value = static_cast<Enum>(found - names.begin());
  return true;
}

}  // namespace

std::string_view to_string(JobKind kind) {
  return job_kinds.at(static_cast<std::size_t>(kind));
}
std::string_view to_string(MessageKind kind) {
  return message_kinds.at(static_cast<std::size_t>(kind));
}
bool from_string(std::string_view text, JobKind& kind) {
  return value_of(job_kinds, text, kind);
}
bool from_string(std::string_view text, MessageKind& kind) {
  return value_of(message_kinds, text, kind);
}

template <class Archive, Fields<Job> S>
void fields(Archive& a, S& s) {
  a.field("kind", s.kind);
  a.optional_field("devices", s.devices);
  a.field("pass", s.pass);
  a.field("plan", s.plan);
  a.optional_field("cases", s.cases);
  a.optional_field("trace_file", s.trace_file);
  a.optional_field("through_tool", s.through_tool);
}

template <class Archive, Fields<Message> S>
void fields(Archive& a, S& s) {
  a.field("kind", s.kind);
  a.optional_field("case", s.case_id);
  a.field("samples", s.samples);
  a.optional_field("result", s.result);
  a.optional_field("environment", s.environment);
  a.optional_field("ceilings", s.ceilings);
}

std::string to_line(const Job& job) {
  return json::to_json(job).dump() + "\n";
}
std::string to_line(const Message& message) {
  // A variant's own message can hold any bytes: what is not UTF-8 is replaced, never thrown at.
  return json::to_json(message).dump(-1, ' ', false, json::Json::error_handler_t::replace) + "\n";
}

Job parse_job(std::string_view line) {
  return json::from_json<Job>(json::parse(line, "job"), "job");
}
Message parse_message(std::string_view line) {
  return json::from_json<Message>(json::parse(line, "message"), "message");
}

}  // namespace mprof
