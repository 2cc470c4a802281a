// SPDX-License-Identifier: MIT
#include "model/enum_names.hpp"
#include "model/run.hpp"

namespace mprof {
namespace {

constexpr EnumNames<Pass, 4> pass_names{{{Pass::timing, "timing"},
                                         {Pass::trace, "trace"},
                                         {Pass::counters, "counters"},
                                         {Pass::source, "source"}}};
constexpr EnumNames<Source, 3> source_names{
    {{Source::measured, "measured"}, {Source::modelled, "modelled"}, {Source::printed, "printed"}}};
constexpr EnumNames<Direction, 3> direction_names{{{Direction::decreases, "decreases"},
                                                   {Direction::increases, "increases"},
                                                   {Direction::unchanged, "unchanged"}}};
constexpr EnumNames<Status, 9> status_names{{{Status::ok, "ok"},
                                             {Status::wrong, "wrong"},
                                             {Status::suspect, "suspect"},
                                             {Status::skipped, "skipped"},
                                             {Status::failed, "failed"},
                                             {Status::crashed, "crashed"},
                                             {Status::timeout, "timeout"},
                                             {Status::interrupted, "interrupted"},
                                             {Status::pending, "pending"}}};
constexpr EnumNames<Ending, 3> ending_names{
    {{Ending::confidence, "confidence"}, {Ending::samples, "samples"}, {Ending::seconds, "seconds"}}};
constexpr EnumNames<RunState, 3> state_names{{{RunState::running, "running"},
                                              {RunState::complete, "complete"},
                                              {RunState::interrupted, "interrupted"}}};

constexpr EnumNames<Subject, 3> subject_names{
    {{Subject::variant, "variant"}, {Subject::program, "program"}, {Subject::import, "import"}}};

}  // namespace

std::string_view to_string(Pass pass) {
  return name_of(pass_names, pass);
}
std::string_view to_string(Source source) {
  return name_of(source_names, source);
}
std::string_view to_string(Direction direction) {
  return name_of(direction_names, direction);
}
std::string_view to_string(Status status) {
  return name_of(status_names, status);
}
std::string_view to_string(Ending ending) {
  return name_of(ending_names, ending);
}
std::string_view to_string(RunState state) {
  return name_of(state_names, state);
}
std::string_view to_string(Subject subject) {
  return name_of(subject_names, subject);
}

bool from_string(std::string_view text, Pass& value) {
  return value_of(pass_names, text, value);
}
bool from_string(std::string_view text, Source& value) {
  return value_of(source_names, text, value);
}
bool from_string(std::string_view text, Direction& value) {
  return value_of(direction_names, text, value);
}
bool from_string(std::string_view text, Status& value) {
  return value_of(status_names, text, value);
}
bool from_string(std::string_view text, Ending& value) {
  return value_of(ending_names, text, value);
}
bool from_string(std::string_view text, RunState& value) {
  return value_of(state_names, text, value);
}
bool from_string(std::string_view text, Subject& value) {
  return value_of(subject_names, text, value);
}

}  // namespace mprof
