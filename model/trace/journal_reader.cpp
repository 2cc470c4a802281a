// SPDX-License-Identifier: MIT
#include "model/trace/journal_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::journal {
namespace {

/// Takes a value from the front of a text; nullopt when there is too little left of it.
template <class Value>
std::optional<Value> take_value(std::string_view& bytes) {
  if (bytes.size() < sizeof(Value)) return std::nullopt;
  Value value{};
  std::memcpy(&value, bytes.data(), sizeof(Value));
  bytes.remove_prefix(sizeof(Value));
  return value;
}

/// Of the counters pass.
void add_counters(Journal& journal, Kind kind, std::string_view bytes) {
  if (kind == Kind::kernel) {
    if (const auto kernel = take_value<Kernel>(bytes)) journal.kernels.push_back(*kernel);
  } else if (kind == Kind::counts) {
    if (const auto number = take_value<std::uint64_t>(bytes)) journal.counts[*number] = bytes;
  } else if (kind == Kind::counted) {
    if (const auto counted = take_value<Counted>(bytes)) journal.counted.push_back(*counted);
  } else if (kind == Kind::launches) {
    if (const auto launches = take_value<Launches>(bytes)) journal.launches[launches->kernel] = *launches;
  } else if (kind == Kind::uncounted) {
    if (const auto uncounted = take_value<Uncounted>(bytes))
      journal.uncounted.emplace_back(*uncounted, bytes);
  } else if (kind == Kind::stopped) {
    if (const auto kernel = take_value<std::uint64_t>(bytes)) journal.stopped.push_back(*kernel);
  }
}

void add_schema(Journal& journal, std::string_view bytes) {
  const auto head = take_value<PayloadSchema>(bytes);
  if (!head) return;
  trace::PayloadSchema schema{.size = head->size};
  while (const auto field = take_value<PayloadField>(bytes)) {
    const auto name = journal.texts.find(field->name);
    schema.fields.push_back({.type = field->type,
                             .flags = field->flags,
                             .offset = field->offset,
                             .name = name == journal.texts.end() ? "" : name->second});
  }
  journal.schemas[{head->domain, head->id}] = std::move(schema);
}

/// Of the source pass.
void add_samples(Journal& journal, Kind kind, std::string_view bytes) {
  if (kind == Kind::stall) {
    if (const auto stall = take_value<std::uint32_t>(bytes)) journal.stalls[*stall] = bytes;
  } else if (kind == Kind::sampled) {
    const auto place = take_value<SampledPlace>(bytes);
    if (!place) return;
    std::vector<StallCount> counts;
    while (const auto count = take_value<StallCount>(bytes)) counts.push_back(*count);
    journal.sampled.emplace_back(*place, std::move(counts));
  }
}

/// Where launches came from.
void add_stacks(Journal& journal, Kind kind, std::string_view bytes) {
  if (kind == Kind::launched) {
    while (const auto launch = take_value<StackOfLaunch>(bytes))
      journal.stacks_of_launches.push_back(*launch);
  } else if (const auto number = take_value<std::uint64_t>(bytes)) {
    std::vector<StackFrame>& stack = journal.stacks[*number];
    while (const auto frame = take_value<StackFrame>(bytes)) stack.push_back(*frame);
  }
}

void add_entry(Journal& journal, Kind kind, std::string_view bytes) {
  switch (kind) {
    case Kind::name:
      journal.name = bytes;
      return;
    case Kind::rank:
      journal.rank = take_value<Rank>(bytes);
      return;
    case Kind::text:
      if (const auto id = take_value<std::uint64_t>(bytes)) journal.texts[*id] = bytes;
      return;
    case Kind::record:
      journal.records.emplace_back(bytes);
      return;
    case Kind::call:
      if (const auto call = take_value<Call>(bytes)) journal.calls[{call->is_driver, call->id}] = bytes;
      return;
    case Kind::dropped:
      journal.dropped += take_value<std::uint64_t>(bytes).value_or(0);
      return;
    case Kind::note:
      journal.notes.emplace_back(bytes);
      return;
    case Kind::until:
      journal.until = std::max(journal.until, take_value<std::int64_t>(bytes).value_or(0));
      return;
    case Kind::range:
      if (const auto range = take_value<Range>(bytes)) journal.ranges.push_back(*range);
      return;
    case Kind::schema:
      add_schema(journal, bytes);
      return;
    case Kind::payload:
      if (const auto payload = take_value<Payload>(bytes)) journal.payloads.emplace_back(*payload, bytes);
      return;
    case Kind::end:
      journal.has_ended = true;
      return;
    case Kind::begin:
      if (const auto beginning = take_value<Beginning>(bytes)) journal.beginning = *beginning;
      return;
    case Kind::graph_node:
      if (const auto node = take_value<GraphNode>(bytes)) journal.graph_nodes.push_back(*node);
      return;
    case Kind::window:
      if (const auto edge = take_value<WindowEdge>(bytes)) journal.window_edges.push_back(*edge);
      return;
    case Kind::failed:
      if (const auto launch = take_value<launch_log::Launch>(bytes)) journal.failed.push_back(*launch);
      return;
    case Kind::stall:
    case Kind::sampled:
      add_samples(journal, kind, bytes);
      return;
    case Kind::stack:
    case Kind::launched:
      add_stacks(journal, kind, bytes);
      return;
    default:
      add_counters(journal, kind, bytes);
  }
}

/// The last launches of a process, which it may have been noting when it ended; none where it noted none.
std::vector<launch_log::Launch> read_launches(std::filesystem::path file) {
  file.replace_extension(launch_log::extension);
  std::vector<launch_log::Launch> launches;
  constexpr std::size_t largest = sizeof(launch_log::Head) + launch_log::kept * sizeof(launch_log::Launch);
  std::error_code error;
  // The program itself could have put anything there.
  if (std::filesystem::symlink_status(file, error).type() != std::filesystem::file_type::regular ||
      std::filesystem::file_size(file, error) > largest)
    return launches;
  const std::string contents = read_file(file);
  std::string_view bytes = contents;
  const auto head = take_value<launch_log::Head>(bytes);
  if (!head || !std::ranges::equal(head->magic, launch_log::magic)) return launches;
  while (const auto launch = take_value<launch_log::Launch>(bytes)) {
    if (launch->number != 0) launches.push_back(*launch);
  }
  std::ranges::sort(launches, {}, &launch_log::Launch::number);
  const auto is_again = [](const launch_log::Launch& a, const launch_log::Launch& b) {
    return a.number == b.number;
  };
  launches.erase(std::unique(launches.begin(), launches.end(), is_again), launches.end());
  return launches;
}

}  // namespace

std::optional<trace::Interval> opened_window(const Journal& journal) {
  std::optional<trace::Interval> window;
  for (const WindowEdge& edge : journal.window_edges) {
    if (edge.opens != 0 && !window) window = trace::Interval{edge.time, std::max(edge.time, journal.until)};
    if (edge.opens == 0 && window) window->end = std::min(window->end, edge.time);
  }
  return window && window->start < window->end ? window : std::nullopt;
}

Journal read_journal(const std::filesystem::path& file) {
  const std::string contents = read_file(file);
  std::string_view bytes = contents;
  Journal journal;
  const auto head = take_value<Head>(bytes);
  if (!head || !std::ranges::equal(head->magic, magic))
    throw Error(ExitCode::usage, file.string() + ": this is no journal of this version of mprof.");
  journal.head = *head;
  for (auto entry = take_value<Entry>(bytes); entry && entry->size <= bytes.size();
       entry = take_value<Entry>(bytes)) {
    add_entry(journal, entry->kind, bytes.substr(0, entry->size));
    bytes.remove_prefix(entry->size);
  }
  journal.launched = read_launches(file);
  return journal;
}

std::vector<Journal> read_journals(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension && entry.file_size() >= sizeof(Head))
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Journal> journals;
  for (const std::filesystem::path& file : files) journals.push_back(read_journal(file));
  return journals;
}

}  // namespace mprof::journal
