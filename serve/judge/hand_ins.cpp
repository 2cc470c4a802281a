// SPDX-License-Identifier: MIT
#include "serve/judge/hand_ins.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "model/statistics/median.hpp"
#include "report/page/charts.hpp"
#include "report/page/render.hpp"
#include "report/text/format.hpp"
#include "report/views/table.hpp"
#include "runner/source/compiler.hpp"
#include "serve/judge/judgement.hpp"
#include "serve/judge/judgement_json.hpp"
#include "serve/judge/workplace.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"
#include "system/strays.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uintmax_t largest_starter = std::uintmax_t{4} << 20;  // B
/// B, of the source and the headers of a hand-in together: to compare more takes much memory.
constexpr std::uintmax_t most_compared = std::uintmax_t{1} << 20;

/// Links too, which are refused later.
std::vector<fs::path> sources_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; entry != end && !error; entry.increment(error)) {
    const bool is_file = entry->is_symlink(error) || entry->is_regular_file(error);
    if (is_source_name(entry->path()) && is_file) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

/// Why it is not judged; empty: it is. A file `...cpp` would have the folder above --out.
std::string why_refused(const std::string& name, const fs::path& file) {
  constexpr std::array<std::string_view, 4> taken{".", "..", "class.json", "class.html"};
  std::error_code error;
  if (fs::is_symlink(file, error))
    return fmt::format("{} is a symbolic link: hand in the file itself", tamed(file.filename().string()));
  if (std::ranges::find(taken, name) == taken.end()) return "";
  return fmt::format("a hand-in cannot be called {}, because --out has that already: rename it", name);
}

void add(std::vector<HandIn>& hand_ins, const std::string& name, const fs::path& file, bool is_alone) {
  hand_ins.push_back({.name = name, .file = file, .is_alone = is_alone, .refused = why_refused(name, file)});
}

void add_folder(std::vector<HandIn>& hand_ins, const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::error_code error;
  if (fs::is_symlink(folder, error)) {
    add(hand_ins, name, folder, false);
    return;
  }
  const std::vector<fs::path> files = sources_in(folder);
  add(hand_ins, name, files.size() == 1 ? files.front() : folder, false);
  if (files.size() != 1)
    hand_ins.back().refused = fmt::format(
        "{} has {}: a hand-in is one source (.cu, .cpp, .cc, .cxx), with the headers that lie beside it",
        tamed(name), format::plural(files.size(), "source"));
}

/// The source, and the headers of its own folder; nullopt where that is more than is compared. Empty where it
/// cannot be read: the answer about it says why.
std::optional<std::string> text_of(const HandIn& hand_in) {
  if (!hand_in.refused.empty()) return "";
  std::vector<fs::path> files{hand_in.file};
  if (!hand_in.is_alone) std::ranges::copy(headers_beside(hand_in.file), std::back_inserter(files));
  std::string text;
  std::error_code error;
  for (const fs::path& file : files) {
    const std::uintmax_t size = fs::file_size(file, error);
    if (error) return "";
    if (size > most_compared - std::min(most_compared, text.size())) return std::nullopt;
    try {
      text += read_file(file, most_compared) + "\n";
    } catch (const Error&) {
      return "";
    }
  }
  return text;
}

std::vector<std::string> command_for(const HandIn& hand_in, const ClassRequest& request) {
  std::vector<std::string> command{own_program().string(),
                                   "judge",
                                   hand_in.file.string(),
                                   "--json",
                                   "--quiet",
                                   "--out",
                                   (request.out / hand_in.name).string(),
                                   "--overwrite"};
  if (hand_in.is_alone) command.emplace_back("--alone");
  command.insert(command.end(), request.options.begin(), request.options.end());
  return command;
}

std::string text_at(const Json& answer, const char* key) {
  const auto found = answer.find(key);
  return found != answer.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string status_of(const JudgedHandIn& one) {
  return one.answer.is_null() ? "not judged" : text_at(one.answer, "status");
}

/// What an earlier judgement left of this hand-in, so that none of it is taken for what this one says.
void forget(const fs::path& folder) {
  std::error_code error;
  if (fs::is_symlink(folder, error)) return;  // the judgement refuses it
  for (const char* file : {"judge.json", "judge.txt", "results.json"}) fs::remove(folder / file, error);
  for (const char* record : {"A", "B", "A-again"}) {
    const bool is_record = fs::exists(folder / record / "run.json", error);
    if (is_record) fs::remove_all(folder / record, error);
  }
}

/// Makes the report of the record of a right one, and returns where it lies; empty where it was not measured.
std::string report_of(const JudgedHandIn& judged, const ClassRequest& request) {
  constexpr double limit = 120;  // s
  if (status_of(judged) != "right") return {};
  const fs::path record = fs::path(judged.hand_in.name) / "B";
  std::error_code error;
  if (!fs::exists(request.out / record / "run.json", error)) return {};
  Process process({own_program().string(), "report", (request.out / record).string(), "--format", "html"},
                  "");
  const double deadline = request.clock.now() + limit;
  Process::Event event;
  do {
    event = process.next(request.clock, deadline, request.interrupt_fd);
  } while (event.kind == Process::Event::Kind::line);
  process.kill();
  const fs::path report = record / "milestone.html";
  return fs::exists(request.out / report, error) ? report.string() : "";
}

JudgedHandIn judged(const HandIn& hand_in, const ClassRequest& request) {
  JudgedHandIn result{.hand_in = hand_in, .failure = hand_in.refused};
  if (!hand_in.refused.empty()) return result;
  forget(request.out / hand_in.name);
  const double start = request.clock.now();
  const StraysEnd with_process;
  Process process(command_for(hand_in, request), "");
  const Process::Event event = process.next(request.clock, start + request.limit, request.interrupt_fd);
  if (event.kind == Process::Event::Kind::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  if (event.kind == Process::Event::Kind::line) {
    result.answer = Json::parse(event.line, nullptr, false);
    if (!result.answer.is_object() || !result.answer.contains("status")) result.answer = nullptr;
  }
  if (event.kind == Process::Event::Kind::deadline)
    result.failure = fmt::format("judging it took longer than {:g} s", request.limit);
  process.kill();
  if (result.answer.is_null() && result.failure.empty()) {
    const std::string words = tamed(process.last_words(), 1000);
    result.failure = words.empty() ? process.how_it_ended() : words;
    const bool was_interrupted = process.exit_code() == static_cast<int>(ExitCode::interrupted);
    if (was_interrupted) throw Error(ExitCode::interrupted, "interrupted");
  }
  result.seconds = request.clock.now() - start;
  result.report = report_of(result, request);
  return result;
}

std::optional<double> number_in(const Json& answer, const char* object, const char* key) {
  if (answer.is_null() || !answer.contains(object) || !answer[object].is_object()) return std::nullopt;
  const Json& value = answer[object][key];
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<double> factor_of(const JudgedHandIn& one) {
  return number_in(one.answer, "speed_up", "factor");
}

/// The fastest first, then what is right and not timed, then the others by name.
std::vector<const JudgedHandIn*> in_order(const ClassJudgement& judgement) {
  std::vector<const JudgedHandIn*> all;
  for (const JudgedHandIn& one : judgement.judged) all.push_back(&one);
  std::ranges::stable_sort(all, [](const JudgedHandIn* a, const JudgedHandIn* b) {
    return factor_of(*a).value_or(status_of(*a) == "right" ? 0 : -1) >
           factor_of(*b).value_or(status_of(*b) == "right" ? 0 : -1);
  });
  return all;
}

std::string why_of(const JudgedHandIn& one) {
  if (one.answer.is_null()) return one.failure;
  return text_at(one.answer, "reason");
}

Table standings(const ClassJudgement& judgement) {
  const bool has_score = std::ranges::any_of(judgement.judged, [](const JudgedHandIn& one) {
    return number_in(one.answer, "score", "points").has_value();
  });
  Table table("hand-ins", "Hand-ins, the fastest first");
  table.text("Hand-in").text("Status").text("Verdict").numbers("Time", Unit::second).numbers("Speed-Up");
  if (has_score) table.numbers("Score");
  table.numbers("Judged in", Unit::second).text("Why").text("Report");
  for (const JudgedHandIn* one : in_order(judgement)) {
    const std::string status = status_of(*one);
    const auto factor = factor_of(*one), time = number_in(one->answer, "time", "median");
    std::vector<Cell> cells{
        Cell::words(tamed(one->hand_in.name)),
        Cell::words(status, status == "right" ? Tone::good : Tone::bad),
        one->answer.is_null() ? Cell::dash() : Cell::words(text_at(one->answer, "verdict")),
        time ? Cell::bare(derived_value(*time)) : Cell::dash(),
        factor ? Cell::figure(format::times(*factor)).valued(*factor) : Cell::dash()};
    if (has_score) {
      const auto points = number_in(one->answer, "score", "points");
      cells.push_back(points ? Cell::figure(format::significant(*points)).valued(*points) : Cell::dash());
    }
    cells.push_back(Cell::bare(derived_value(one->seconds)));
    cells.push_back(Cell::words(format::elide(why_of(*one), 120)));
    cells.push_back(one->report.empty() ? Cell::dash() : Cell::words(tamed(one->report)));
    table.row(std::move(cells));
  }
  return table;
}

/// Hand-ins by how fast they are, in steps of a factor of two.
Table distribution(const ClassJudgement& judgement) {
  std::map<int, std::size_t> steps;
  for (const JudgedHandIn& one : judgement.judged) {
    if (const auto factor = factor_of(one)) ++steps[static_cast<int>(std::floor(std::log2(*factor)))];
  }
  Table table("distribution", "How fast the right ones are");
  table.text("As fast as what they are compared with").numbers("Hand-ins").text("");
  for (const auto& [step, count] : steps) {
    std::string bar;
    for (std::size_t i = 0; i < count; ++i) bar += "█";
    table.row({Cell::words(fmt::format("{} to {}", format::times(std::exp2(step)),
                                       format::times(std::exp2(step + 1)))),
               Cell::figure(format::count(count)).valued(static_cast<double>(count)), Cell::words(bar)});
  }
  return table;
}

Table alike_table(const ClassJudgement& judgement) {
  Table table("alike", "Sources that are alike in their structure");
  table.text("Hand-in").text("Another").numbers("Shared");
  for (const AlikePair& pair : judgement.alike)
    table.row({Cell::words(tamed(judgement.judged[pair.first].hand_in.name)),
               Cell::words(tamed(judgement.judged[pair.second].hand_in.name)),
               Cell::figure(format::percent(pair.share)).valued(pair.share)});
  return table;
}

std::size_t right_ones(const ClassJudgement& judgement) {
  return static_cast<std::size_t>(std::ranges::count_if(
      judgement.judged, [](const JudgedHandIn& one) { return status_of(one) == "right"; }));
}

std::string headline(const ClassJudgement& judgement) {
  std::vector<double> factors;
  for (const JudgedHandIn& one : judgement.judged) {
    if (const auto factor = factor_of(one)) factors.push_back(*factor);
  }
  std::string text = fmt::format("{} of {} right", right_ones(judgement),
                                 format::plural(judgement.judged.size(), "hand-in"));
  if (!factors.empty())
    text += fmt::format("; the middle one is {} as fast as what it is compared with, the best one {}",
                        format::times(median(factors)), format::times(std::ranges::max(factors)));
  return text + ".";
}

/// Empty where all were compared.
std::string words_on_not_compared(const ClassJudgement& judgement) {
  if (judgement.not_compared.empty()) return "";
  std::vector<std::string> names;
  for (const std::string& name : judgement.not_compared) names.push_back(name);
  return fmt::format("Not compared with the other sources, because there is more than 1 MiB of it: {}.",
                     format::list(names));
}

}  // namespace

std::vector<HandIn> find_hand_ins(const fs::path& folder, const fs::path& starter, const fs::path& out) {
  std::vector<HandIn> hand_ins;
  std::error_code error;
  if (fs::equivalent(folder, out, error))
    throw Error(
        ExitCode::usage,
        fmt::format("--out {}: that is the folder of the hand-ins itself. Give another one.", out.string()));
  for (const fs::path& file : sources_in(folder)) add(hand_ins, file.stem().string(), file, true);
  for (fs::directory_iterator entry(folder, error), end; entry != end && !error; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!entry->is_directory(error) || name.starts_with('.') || fs::equivalent(entry->path(), out, error))
      continue;
    add_folder(hand_ins, entry->path());
  }
  std::erase_if(hand_ins, [&](const HandIn& one) { return fs::equivalent(one.file, starter, error); });
  std::ranges::sort(hand_ins, {}, &HandIn::name);
  const auto same = std::ranges::adjacent_find(hand_ins, {}, &HandIn::name);
  if (same != hand_ins.end())
    throw Error(ExitCode::usage, fmt::format("{}: two hand-ins are called {}; rename one of them.",
                                             folder.string(), tamed(same->name)));
  if (hand_ins.empty())
    throw Error(ExitCode::usage,
                fmt::format("{} has no hand-in: a source (.cu, .cpp, .cc, .cxx), or a folder with one.",
                            folder.string()));
  return hand_ins;
}

ClassJudgement judge_class(const ClassRequest& request) {
  ClassJudgement judgement;
  std::vector<std::string> texts;
  for (const HandIn& hand_in : request.hand_ins) {
    try {
      judgement.judged.push_back(judged(hand_in, request));
    } catch (const Error& error) {
      judgement.was_interrupted = error.code() == ExitCode::interrupted;
      if (judgement.was_interrupted) break;
      judgement.judged.push_back({.hand_in = hand_in, .failure = tamed(error.what(), 1000)});
    }
    request.on_judged(judgement.judged.back());
    std::optional<std::string> text = text_of(hand_in);
    if (!text) judgement.not_compared.push_back(tamed(hand_in.name));
    texts.push_back(std::move(text).value_or(""));
  }
  const std::string starter = request.starter.empty() ? "" : read_file(request.starter, largest_starter);
  judgement.alike = alike_pairs(texts, starter);
  return judgement;
}

namespace {

/// A path is exact or absent: one with characters that a terminal obeys is not shown.
bool is_plain_path(const std::string& path) {
  return !path.empty() && tamed(path, path.size()) == path;
}

}  // namespace

Json class_json(const ClassJudgement& judgement) {
  Json hand_ins = Json::array(), alike = Json::array();
  for (const JudgedHandIn& one : judgement.judged)
    hand_ins.push_back({{"name", tamed(one.hand_in.name)},
                        {"file", tamed(one.hand_in.file.filename().string())},
                        {"seconds", format::rounded(one.seconds, 3)},
                        {"failure", one.failure.empty() ? Json(nullptr) : Json(one.failure)},
                        {"report", is_plain_path(one.report) ? Json(one.report) : Json(nullptr)},
                        {"judgement", one.answer}});
  for (const AlikePair& pair : judgement.alike)
    alike.push_back({{"first", tamed(judgement.judged[pair.first].hand_in.name)},
                     {"second", tamed(judgement.judged[pair.second].hand_in.name)},
                     {"share", format::rounded(pair.share, 3)}});
  return {{"schema", "mprof.judge.class/1"},
          {"answer", headline(judgement)},
          {"right", right_ones(judgement)},
          {"hand_ins", std::move(hand_ins)},
          {"alike", std::move(alike)},
          {"not_compared", judgement.not_compared},
          {"interrupted", judgement.was_interrupted}};
}

std::string class_text(const ClassJudgement& judgement, std::size_t width) {
  std::string text = text_table(standings(judgement).view(), width);
  if (!judgement.alike.empty()) text += "\n" + text_table(alike_table(judgement).view(), width);
  if (!judgement.not_compared.empty()) text += "\n" + words_on_not_compared(judgement) + "\n";
  return text + "\n" + headline(judgement) + "\n";
}

std::string class_html(const ClassJudgement& judgement) {
  const Templates templates;
  nlohmann::json view{
      {"title", "Hand-ins"},
      {"headline", headline(judgement)},
      {"standings", standings(judgement).view()},
      {"distribution", distribution(judgement).view()},
      {"alike", judgement.alike.empty() ? nlohmann::json(false) : alike_table(judgement).view()},
      {"not_compared", judgement.not_compared.empty() ? nlohmann::json(false)
                                                      : nlohmann::json(words_on_not_compared(judgement))}};
  add_page_parts(view, templates, nlohmann::json::array(), {"tables", "report"});
  return render_html(templates, "class", view);
}

}  // namespace mprof
