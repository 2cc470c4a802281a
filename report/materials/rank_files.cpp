// SPDX-License-Identifier: MIT
#include "report/materials/rank_files.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "model/json_archive.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/program.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/tallies.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {

// --- The file of a summary: columns, since there are many rows of few numbers.

namespace {

using Numbers = std::vector<std::uint64_t>;

struct StepColumns {
  Numbers end{}, computing{}, communicating{}, copying{}, communication{}, launches{};
  std::vector<Numbers> idle{};  ///< by cause
};

struct CollectiveColumns {
  Numbers kind{}, group{}, group_size{}, bytes{}, of_one_rank{}, start{}, length{};
  Numbers moments{};  ///< how many of `exposed` are of each
  Numbers exposed{};  ///< starts and lengths in turns, from the collective's start
};

struct StretchColumns {
  Numbers what{}, length{};
};

struct KernelColumns {
  std::vector<std::string> name{};
  Numbers launches{}, time{}, median{};
};

struct PlaceColumns {
  std::vector<std::string> name{};
  Numbers cause{}, is_line{}, time{};
};

struct RankFile {
  std::string schema{};
  std::string name{}, clock{}, host{}, gpu{}, step{};
  std::optional<std::uint32_t> rank{}, world_size{}, device{};
  std::optional<double> sm_clock{};
  std::uint64_t epoch = 0, first_step = 0;
  std::uint64_t start = 0;  ///< ns after the epoch at which the first step begins
  std::vector<std::string> groups{};
  StepColumns steps{};
  CollectiveColumns collectives{};
  StretchColumns stretches{};
  KernelColumns kernels{};
  PlaceColumns places{};
};

template <class Archive, Fields<StepColumns> S>
void fields(Archive& a, S& s) {
  a.field("end", s.end);
  a.field("computing", s.computing);
  a.field("communicating", s.communicating);
  a.field("copying", s.copying);
  a.field("communication", s.communication);
  a.field("launches", s.launches);
  a.field("idle", s.idle);
}

template <class Archive, Fields<CollectiveColumns> S>
void fields(Archive& a, S& s) {
  a.field("kind", s.kind);
  a.field("group", s.group);
  a.field("group_size", s.group_size);
  a.field("bytes", s.bytes);
  a.field("of_one_rank", s.of_one_rank);
  a.field("start", s.start);
  a.field("length", s.length);
  a.field("moments", s.moments);
  a.field("exposed", s.exposed);
}

template <class Archive, Fields<StretchColumns> S>
void fields(Archive& a, S& s) {
  a.field("what", s.what);
  a.field("length", s.length);
}

template <class Archive, Fields<KernelColumns> S>
void fields(Archive& a, S& s) {
  a.field("name", s.name);
  a.field("launches", s.launches);
  a.field("time", s.time);
  a.field("median", s.median);
}

template <class Archive, Fields<PlaceColumns> S>
void fields(Archive& a, S& s) {
  a.field("name", s.name);
  a.field("cause", s.cause);
  a.field("is_line", s.is_line);
  a.field("time", s.time);
}

template <class Archive, Fields<RankFile> S>
void fields(Archive& a, S& s) {
  a.field("schema", s.schema);
  a.field("name", s.name);
  a.field("clock", s.clock);
  a.optional_field("rank", s.rank);
  a.optional_field("world_size", s.world_size);
  a.optional_field("host", s.host);
  a.optional_field("gpu", s.gpu);
  a.optional_field("device", s.device);
  a.optional_field("sm_clock", s.sm_clock);
  a.optional_field("epoch", s.epoch);
  a.optional_field("step", s.step);
  a.optional_field("first_step", s.first_step);
  a.field("start", s.start);
  a.field("groups", s.groups);
  a.field("steps", s.steps);
  a.field("collectives", s.collectives);
  a.field("stretches", s.stretches);
  a.field("kernels", s.kernels);
  a.field("places", s.places);
}

std::uint64_t number(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

/// The earliest time that the file has.
std::int64_t earliest(const RankSummary& rank) {
  std::int64_t first = rank.steps.empty() ? 0 : rank.steps.front().time.start;
  for (const RankCollective& one : rank.collectives) first = std::min(first, one.time.start);
  return first;
}

RankFile columns_of(const RankSummary& rank) {
  const std::int64_t base = earliest(rank);
  const auto at = [&](std::int64_t time) { return number(time - base); };
  RankFile file{.schema = rank_schema,
                .name = rank.name,
                .clock = rank.clock,
                .host = rank.host,
                .gpu = rank.gpu,
                .step = rank.step,
                .rank = rank.rank,
                .world_size = rank.world_size,
                .device = rank.device,
                .sm_clock = rank.sm_clock,
                .epoch = number(rank.epoch + (rank.epoch > 0 ? base : 0)),
                .first_step = rank.first_step,
                .start = rank.steps.empty() ? 0 : at(rank.steps.front().time.start),
                .groups = rank.groups};
  file.steps.idle.resize(budget_parts);
  for (const RankStep& step : rank.steps) {
    file.steps.end.push_back(at(step.time.end));
    file.steps.computing.push_back(number(step.of(RankActivity::computing)));
    file.steps.communicating.push_back(number(step.of(RankActivity::communicating)));
    file.steps.copying.push_back(number(step.of(RankActivity::copying)));
    file.steps.communication.push_back(number(step.communication));
    file.steps.launches.push_back(step.launches);
    for (std::size_t cause = 0; cause < budget_parts; ++cause)
      file.steps.idle[cause].push_back(number(step.idle.at(cause)));
  }
  for (const RankCollective& one : rank.collectives) {
    file.collectives.kind.push_back(static_cast<std::uint64_t>(one.kind));
    file.collectives.group.push_back(one.group);
    file.collectives.group_size.push_back(one.group_size);
    file.collectives.bytes.push_back(one.bytes);
    file.collectives.of_one_rank.push_back(one.is_of_one_rank ? 1 : 0);
    file.collectives.start.push_back(at(one.time.start));
    file.collectives.length.push_back(number(one.time.length()));
    file.collectives.moments.push_back(one.exposed);
    for (const trace::Interval& time : rank.exposed_of(one)) {
      file.collectives.exposed.push_back(number(time.start - one.time.start));
      file.collectives.exposed.push_back(number(time.length()));
    }
  }
  for (std::size_t i = 0; i < rank.stretches.size(); ++i) {
    const RankStretch stretch = rank.stretches[i];
    file.stretches.what.push_back(static_cast<std::uint64_t>(stretch.what));
    file.stretches.length.push_back(number(stretch.time.length()));
  }
  for (const RankKernel& kernel : rank.kernels) {
    file.kernels.name.push_back(kernel.name);
    file.kernels.launches.push_back(kernel.launches);
    file.kernels.time.push_back(number(kernel.time));
    file.kernels.median.push_back(number(kernel.median));
  }
  for (const RankPlace& place : rank.places) {
    file.places.name.push_back(place.name);
    file.places.cause.push_back(static_cast<std::uint64_t>(place.part));
    file.places.is_line.push_back(place.is_line ? 1 : 0);
    file.places.time.push_back(number(place.time));
  }
  return file;
}

[[noreturn]] void refuse_file(const std::string& name, std::string_view why) {
  throw Error(ExitCode::usage,
              fmt::format("{}: {}. Make the summary again: mprof ranks TRACE --summaries DIR.", name, why));
}

class RankRows {
 public:
  RankRows(const RankFile& file, const std::string& name) : file_(file), name_(name) {}

  RankSummary read() {
    rank_ = {.name = file_.name,
             .clock = file_.clock,
             .rank = file_.rank,
             .world_size = file_.world_size,
             .host = file_.host,
             .gpu = file_.gpu,
             .device = file_.device,
             .sm_clock = file_.sm_clock,
             .epoch = time(file_.epoch),
             .step = file_.step,
             .first_step = file_.first_step,
             .groups = file_.groups};
    read_steps();
    read_collectives();
    read_stretches();
    read_kernels();
    read_places();
    return std::move(rank_);
  }

 private:
  [[nodiscard]] std::int64_t time(std::uint64_t value) const {
    constexpr std::uint64_t latest = 4'000'000'000'000'000'000;
    if (value > latest) refuse_file(name_, fmt::format("{} ns is no time", value));
    return static_cast<std::int64_t>(value);
  }
  /// So many ns after a moment.
  [[nodiscard]] std::int64_t later(std::int64_t moment, std::uint64_t length) const {
    return time(static_cast<std::uint64_t>(moment) + static_cast<std::uint64_t>(time(length)));
  }
  void require(bool holds, std::string_view why) const {
    if (!holds) refuse_file(name_, why);
  }
  void same(std::size_t rows, std::initializer_list<const Numbers*> columns, std::string_view what) const {
    for (const Numbers* column : columns)
      require(column->size() == rows, fmt::format("the columns of \"{}\" differ in length", what));
  }

  void read_steps() {
    const StepColumns& columns = file_.steps;
    const std::size_t rows = columns.end.size();
    same(rows,
         {&columns.computing, &columns.communicating, &columns.copying, &columns.communication,
          &columns.launches},
         "steps");
    require(columns.idle.size() == budget_parts, fmt::format("\"idle\" needs {} columns", budget_parts));
    for (const Numbers& cause : columns.idle) same(rows, {&cause}, "steps");
    std::int64_t start = time(file_.start);
    for (std::size_t i = 0; i < rows; ++i) {
      RankStep step{.time = {start, time(columns.end[i])},
                    .communication = time(columns.communication[i]),
                    .launches = columns.launches[i]};
      require(step.time.end > start, "steps do not follow each other");
      std::int64_t idle = step.time.length();
      const std::array<const Numbers*, 3> parts{&columns.computing, &columns.communicating, &columns.copying};
      for (std::size_t part = 0; part < parts.size(); ++part) {
        step.parts.at(part) = time((*parts.at(part))[i]);
        idle -= step.parts.at(part);
      }
      require(idle >= 0, "a step is shorter than its parts");
      step.parts.at(static_cast<std::size_t>(RankActivity::idle)) = idle;
      for (std::size_t cause = 0; cause < budget_parts; ++cause)
        step.idle.at(cause) = time(columns.idle[cause][i]);
      rank_.steps.push_back(step);
      start = step.time.end;
    }
  }

  void read_collectives() {
    const CollectiveColumns& columns = file_.collectives;
    const std::size_t rows = columns.kind.size();
    same(rows,
         {&columns.group, &columns.group_size, &columns.bytes, &columns.of_one_rank, &columns.start,
          &columns.length, &columns.moments},
         "collectives");
    rank_.collectives.reserve(rows);
    rank_.exposed.reserve(columns.exposed.size() / 2);
    std::int64_t before = 0;
    std::size_t next = 0;  // of the exposed times
    std::vector<trace::Interval> moments;
    for (std::size_t i = 0; i < rows; ++i) {
      require(columns.kind[i] <= static_cast<std::uint64_t>(trace::CollectiveKind::other),
              "a kind of collective is not known");
      require(columns.group[i] < rank_.groups.size(), "a collective is of no group");
      const std::int64_t start = time(columns.start[i]);
      require(start >= before, "collectives do not stand in the order of their starts");
      before = start;
      const std::uint64_t count = columns.moments[i];
      require(count <= std::numeric_limits<std::uint8_t>::max() && 2 * count <= columns.exposed.size() - next,
              "there are fewer exposed times than collectives have");
      moments.clear();
      std::int64_t from = start;
      for (std::size_t k = next; k < next + 2 * count; k += 2) {
        const std::int64_t begin = later(start, columns.exposed[k]);
        require(begin >= from, "exposed times do not stand in their order");
        from = later(begin, columns.exposed[k + 1]);
        moments.push_back({begin, from});
      }
      next += 2 * count;
      rank_.add({.time = {start, later(start, columns.length[i])},
                 .bytes = columns.bytes[i],
                 .group_size = static_cast<std::uint32_t>(std::min<std::uint64_t>(
                     columns.group_size[i], std::numeric_limits<std::uint32_t>::max())),
                 .group = static_cast<std::uint32_t>(columns.group[i]),
                 .kind = static_cast<trace::CollectiveKind>(columns.kind[i]),
                 .is_of_one_rank = columns.of_one_rank[i] != 0},
                moments);
    }
  }

  void read_stretches() {
    const std::size_t rows = file_.stretches.what.size();
    same(rows, {&file_.stretches.length}, "stretches");
    std::int64_t end = time(file_.start);
    rank_.stretches.begin_at(end);
    rank_.stretches.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::uint64_t what = file_.stretches.what[i];
      require(what < rank_activities, "an activity is not known");
      end = later(end, file_.stretches.length[i]);
      rank_.stretches.add(end, static_cast<RankActivity>(what));
    }
  }

  void read_kernels() {
    const KernelColumns& columns = file_.kernels;
    same(columns.name.size(), {&columns.launches, &columns.time, &columns.median}, "kernels");
    for (std::size_t i = 0; i < columns.name.size(); ++i)
      rank_.kernels.push_back(
          {columns.name[i], columns.launches[i], time(columns.time[i]), time(columns.median[i])});
  }

  void read_places() {
    const PlaceColumns& columns = file_.places;
    same(columns.name.size(), {&columns.cause, &columns.is_line, &columns.time}, "places");
    for (std::size_t i = 0; i < columns.name.size(); ++i) {
      require(columns.cause[i] < budget_parts, "a cause of idle time is not known");
      rank_.places.push_back({columns.name[i], static_cast<BudgetPart>(columns.cause[i]),
                              columns.is_line[i] != 0, time(columns.time[i])});
    }
  }

  const RankFile& file_;
  const std::string& name_;
  RankSummary rank_;
};

// --- What lies at a path

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_sqlite(const fs::path& path) {
  return path.extension() == ".sqlite" || path.extension() == ".db";
}

bool may_be_rank(const fs::path& path) {
  const std::string name = path.filename().string();
  return is_there(path / "run.json") || is_sqlite(path) || name.ends_with(".json") ||
         name.ends_with(".json.gz");
}

/// Traces of several hosts may lie under the same relative path; each has a clock of its own.
std::string clock_of(const trace::Trace& trace, const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  const auto host = trace.system.find("Hostname");
  return fmt::format("{} {} {}", (error ? path : whole).lexically_normal().string(),
                     host == trace.system.end() ? "" : host->second, trace.epoch);
}

/// Each rank that a trace has, by the clock of the machine that wrote it.
void add_trace(trace::Trace& trace, const fs::path& path, std::vector<RankSummary>& ranks) {
  const std::string name = path.string();
  if (trace.cases.empty()) (void)trace::make_program_case(trace, {.case_id = "ranks"});
  std::vector<std::pair<trace::CaseIndex, std::int64_t>> found;
  for (trace::CaseIndex index = 0; index < trace.cases.size(); ++index) {
    for (const std::int64_t process : trace::rank_processes(trace, index)) found.emplace_back(index, process);
  }
  if (found.empty())
    throw Error(ExitCode::usage,
                fmt::format("{}: no process in it gave a GPU work, so it is no rank. Give the trace of a "
                            "distributed program.",
                            name));
  for (const auto& [index, process] : found) {
    RankSummary rank = summary_of_rank(trace, index, process);
    rank.name =
        found.size() == 1 ? name : fmt::format("{} process {}", name, trace::nsys::native_process(process));
    rank.clock = clock_of(trace, path);
    ranks.push_back(std::move(rank));
  }
}

/// The mean clock of each GPU whose metrics an export of Nsight Systems has, in Hz.
std::map<std::uint32_t, double> sm_clocks_of(const trace::Trace& trace) {
  constexpr std::string_view metric = "GPC Clock Frequency";
  constexpr double hertz = 1e6;  // of a MHz, in which the metric is
  std::map<std::uint32_t, std::pair<double, std::uint64_t>> sums;
  for (const trace::Tally& tally : trace.tallies) {
    if (tally.kind != trace::TallyKind::gpu_metrics || !tally.device || !tally.name.starts_with(metric))
      continue;
    auto& [amount, measured] = sums[*tally.device];
    amount += tally.amount;
    measured += tally.measured;
  }
  std::map<std::uint32_t, double> clocks;
  for (const auto& [gpu, sum] : sums) {
    if (sum.second > 0) clocks[gpu] = hertz * sum.first / static_cast<double>(sum.second);
  }
  return clocks;
}

trace::Trace read_any_trace(const fs::path& file) {
  trace::Query query{.parts = trace::every_part};
  query.parts.tallies = false;
  query.parts.allocations = false;
  query.parts.gpu_samples = false;
  return trace::read_trace(file, query);
}

/// A summary says so at once, and a trace may have gigabytes.
std::string first_bytes(const fs::path& path) {
  constexpr std::size_t looked_at = 200;
  std::string start(looked_at, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start;
}

void add_path(const fs::path& path, const TraceReader& read_other, std::vector<RankSummary>& ranks) {
  const std::string name = path.string();
  if (is_there(path / "run.json")) {
    if (!is_there(path / trace::file_name))
      throw Error(ExitCode::usage,
                  fmt::format("{}: this run has no trace. Record it with the pass `trace`: mprof run "
                              "--passes timing,trace -- PROGRAM.",
                              name));
    trace::Trace trace = read_any_trace(path / trace::file_name);
    add_trace(trace, path, ranks);
  } else if (is_sqlite(path)) {
    trace::Trace trace = read_any_trace(path);
    const std::size_t first = ranks.size();
    add_trace(trace, path, ranks);
    if (sqlite::Database(path, sqlite::Mode::read).has_table("GPU_METRICS")) trace::read_tallies(path, trace);
    const std::map<std::uint32_t, double> clocks = sm_clocks_of(trace);
    for (std::size_t i = first; i < ranks.size(); ++i) {
      const auto clock = clocks.find(ranks[i].device.value_or(0));
      if (ranks[i].device && clock != clocks.end()) ranks[i].sm_clock = clock->second;
    }
  } else {
    if (first_bytes(path).find(rank_schema) != std::string::npos) {
      ranks.push_back(parse_rank_file(read_file(path, json::largest_document), name));
    } else {
      trace::Trace trace = read_other(path);
      add_trace(trace, path, ranks);
    }
  }
}

void add_all(const fs::path& path, const TraceReader& read_other, std::vector<RankSummary>& ranks) {
  std::error_code error;
  if (!fs::is_directory(path, error) || is_there(path / "run.json")) {
    add_path(path, read_other, ranks);
    return;
  }
  std::set<fs::path> within;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (may_be_rank(entry.path())) within.insert(entry.path());
  }
  if (within.empty())
    throw Error(ExitCode::usage,
                fmt::format("{}: nothing in it is of a rank. Give result directories of mprof, exports of "
                            "Nsight Systems (.sqlite), traces of PyTorch's profiler (.json, .json.gz) or "
                            "summaries.",
                            path.string()));
  for (const fs::path& one : within) add_path(one, read_other, ranks);
}

/// A number in the name of a file, where no file says which rank it is: "rank3.sqlite", "report_3.sqlite".
void number_by_names(std::vector<RankSummary>& ranks) {
  std::set<std::string> files;
  for (const RankSummary& rank : ranks) {
    if (rank.rank || !files.insert(rank.clock).second) return;
  }
  std::map<std::uint32_t, std::size_t> numbers;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::string stem = fs::path(ranks[i].name).stem().string();
    const std::size_t last = stem.find_last_of("0123456789");
    if (last == std::string::npos) return;
    const std::size_t before = stem.find_last_not_of("0123456789", last);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    constexpr std::size_t longest = 6;
    if (last + 1 - first > longest) return;
    if (!numbers.emplace(std::stoul(stem.substr(first, last + 1 - first)), i).second) return;
  }
  for (const auto& [rank, place] : numbers) ranks[place].rank = rank;
}

void require_distinct(const std::vector<RankSummary>& ranks) {
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i].rank && ranks[i].rank == ranks[i - 1].rank)
      throw Error(ExitCode::usage, fmt::format("{} and {} are both of rank {}. Give one trace of each rank.",
                                               ranks[i - 1].name, ranks[i].name, *ranks[i].rank));
  }
}

}  // namespace

std::string rank_file(const RankSummary& rank) {
  return json::print(json::to_json(columns_of(rank))) + "\n";
}

RankSummary parse_rank_file(std::string text, const std::string& name) {
  Allowance allowance;
  const json::Document document(std::move(text), name, allowance);
  const auto file = json::from_json<RankFile>(document, name, allowance);
  if (file.schema != rank_schema)
    refuse_file(name, fmt::format("its schema is \"{}\", and this mprof reads {}", file.schema, rank_schema));
  return RankRows(file, name).read();
}

std::string rank_file_name(const RankSummary& rank) {
  if (rank.rank) return fmt::format("rank-{:04}.json", *rank.rank);
  constexpr std::string_view of_process = " process ";
  const std::size_t at = rank.name.rfind(of_process);
  const fs::path path = fs::path(rank.name.substr(0, at)).lexically_normal();
  std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
  for (const std::string_view ending : {".gz", ".json", ".sqlite", ".db"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  if (!rank.host.empty()) name = fmt::format("{}-{}", rank.host, name);
  if (at != std::string::npos) name += fmt::format("-{}", rank.name.substr(at + of_process.size()));
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  std::ranges::replace_if(
      name, [&](char c) { return plain.find(c) == plain.npos; }, '-');
  return fmt::format("rank-{}.json", name);
}

void require_replaceable(const fs::path& file, const RankSummary& rank) {
  if (!is_there(file)) return;
  const std::string path = file.string();
  constexpr std::string_view next_step = "Give another folder, or remove the file.";
  constexpr std::string_view any_version = "mprof.rank/";
  const std::string start = first_bytes(file);
  if (start.find(any_version) == std::string::npos)
    throw Error(ExitCode::usage, fmt::format("{}: a file that is no summary is there. {}", path, next_step));
  if (start.find(rank_schema) == std::string::npos) return;
  RankSummary there;
  try {
    there = parse_rank_file(read_file(file, json::largest_document), path);
  } catch (const Error&) {
    return;  // Making a damaged summary again is what its error message asks for.
  }
  const RankSummary own = parse_rank_file(rank_file(rank), path);  // rounded alike
  if (there.name == own.name && there.epoch == own.epoch) return;
  const std::string_view when = there.name == own.name ? ", recorded at another time" : "";
  throw Error(ExitCode::usage, fmt::format("{}: the summary of another trace is there, of {}{}. {}", path,
                                           there.name, when, next_step));
}

std::vector<RankSummary> read_ranks(const std::vector<std::string>& paths, const TraceReader& read_other) {
  std::vector<RankSummary> ranks;
  for (const std::string& path : paths) {
    if (!is_there(path))
      throw Error(ExitCode::usage, fmt::format("{}: there is no such file or folder.", path));
    add_all(path, read_other, ranks);
  }
  number_by_names(ranks);
  sort_ranks(ranks);
  require_distinct(ranks);
  return ranks;
}

}  // namespace mprof
