#include "model/enum_names.hpp"
#include "model/run.hpp"

namespace mprof {
namespace {

constexpr EnumNames<Pass, 3> passes{
    {{Pass::timing, "timing"}, {Pass::trace, "trace"}, {Pass::counters, "counters"}}};
constexpr EnumNames<Source, 2> sources{{{Source::measured, "measured"}, {Source::modelled, "modelled"}}};
constexpr EnumNames<Direction, 3> directions{{{Direction::decreases, "decreases"},
                                              {Direction::increases, "increases"},
                                              {Direction::unchanged, "unchanged"}}};
constexpr EnumNames<Status, 8> statuses{{{Status::ok, "ok"},
                                         {Status::wrong, "wrong"},
                                         {Status::skipped, "skipped"},
                                         {Status::failed, "failed"},
                                         {Status::crashed, "crashed"},
                                         {Status::timeout, "timeout"},
                                         {Status::interrupted, "interrupted"},
                                         {Status::pending, "pending"}}};
constexpr EnumNames<Ending, 3> endings{
    {{Ending::confidence, "confidence"}, {Ending::samples, "samples"}, {Ending::seconds, "seconds"}}};
constexpr EnumNames<RunState, 3> states{{{RunState::running, "running"},
                                         {RunState::complete, "complete"},
                                         {RunState::interrupted, "interrupted"}}};

}  // namespace

std::string_view to_string(Pass pass) {
  return name_of(passes, pass);
}
std::string_view to_string(Source source) {
  return name_of(sources, source);
}
std::string_view to_string(Direction direction) {
  return name_of(directions, direction);
}
std::string_view to_string(Status status) {
  return name_of(statuses, status);
}
std::string_view to_string(Ending ending) {
  return name_of(endings, ending);
}
std::string_view to_string(RunState state) {
  return name_of(states, state);
}

bool from_string(std::string_view text, Pass& value) {
  return value_of(passes, text, value);
}
bool from_string(std::string_view text, Source& value) {
  return value_of(sources, text, value);
}
bool from_string(std::string_view text, Direction& value) {
  return value_of(directions, text, value);
}
bool from_string(std::string_view text, Status& value) {
  return value_of(statuses, text, value);
}
bool from_string(std::string_view text, Ending& value) {
  return value_of(endings, text, value);
}
bool from_string(std::string_view text, RunState& value) {
  return value_of(states, text, value);
}

}  // namespace mprof
