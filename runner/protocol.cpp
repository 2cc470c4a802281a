// SPDX-License-Identifier: MIT
#include "runner/protocol.hpp"

#include <random>

#include <fmt/format.h>

#include "model/compact_json.hpp"
#include "model/enum_names.hpp"
#include "model/json_archive.hpp"

namespace mprof {
namespace {

constexpr EnumNames<JobKind, 5> job_kinds{{{JobKind::survey, "survey"},
                                           {JobKind::measure, "measure"},
                                           {JobKind::describe, "describe"},
                                           {JobKind::challenge, "challenge"},
                                           {JobKind::sample_gpu, "sample_gpu"}}};
constexpr EnumNames<MessageKind, 9> message_kinds{{{MessageKind::surveyed, "surveyed"},
                                                   {MessageKind::begin, "begin"},
                                                   {MessageKind::sample, "sample"},
                                                   {MessageKind::end, "end"},
                                                   {MessageKind::described, "described"},
                                                   {MessageKind::ready, "ready"},
                                                   {MessageKind::output, "output"},
                                                   {MessageKind::answered, "answered"},
                                                   {MessageKind::sampled, "sampled"}}};

}  // namespace

std::string_view to_string(JobKind kind) {
  return name_of(job_kinds, kind);
}
std::string_view to_string(MessageKind kind) {
  return name_of(message_kinds, kind);
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
  a.optional_field("variants", s.variants);
  a.optional_field("seconds", s.seconds);
  a.field("pass", s.pass);
  a.field("plan", s.plan);
  a.optional_field("cases", s.cases);
  a.optional_field("verified", s.verified);
  a.optional_field("choices", s.choices);
  a.optional_field("trace_file", s.trace_file);
  a.optional_field("seed", s.seed);
  a.optional_field("token", s.token);
  a.optional_field("through_tool", s.through_tool);
  a.optional_field("takes_busy_host", s.takes_busy_host);
  a.optional_field("takes_turns", s.takes_turns);
}

template <class Archive, Fields<Message> S>
void fields(Archive& a, S& s) {
  a.field("kind", s.kind);
  a.optional_field("token", s.token);
  a.optional_field("case", s.case_id);
  a.field("samples", s.samples);
  a.optional_field("ending", s.ending);
  a.optional_field("result", s.result);
  a.optional_field("op", s.op);
  a.optional_field("elements", s.elements);
  a.optional_field("environment", s.environment);
  a.optional_field("ceilings", s.ceilings);
  a.optional_field("variant", s.variant);
  a.optional_field("family", s.family);
  a.optional_field("problems", s.problems);
  a.optional_field("quick_problems", s.quick_problems);
  a.optional_field("refusal", s.refusal);
  a.optional_field("notes", s.notes);
  a.optional_field("takes_turns", s.takes_turns);
}

template <class Archive, Fields<Challenge> S>
void fields(Archive& a, S& s) {
  a.field("seed", s.seed);
}

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string to_line(const Job& job) {
  return json::compact(json::to_json(job)) + "\n";
}
std::string to_line(const Message& message) {
  return json::compact(json::to_json(message)) + "\n";
}
std::string to_line(const Challenge& challenge) {
  return json::compact(json::to_json(challenge)) + "\n";
}

Job parse_job(std::string_view line) {
  return json::from_json<Job>(json::parse(line, "job"), "job");
}
Message parse_message(std::string_view line) {
  return json::from_json<Message>(json::parse(line, "message"), "message");
}
Challenge parse_challenge(std::string_view line) {
  return json::from_json<Challenge>(json::parse(line, "challenge"), "challenge");
}

}  // namespace mprof
