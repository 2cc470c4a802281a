// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/likeness.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/case_file.hpp"
#include "model/facts.hpp"
#include "model/parts.hpp"
#include "report/analysis/machines/environment.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

/// What sentences call the two runs.
struct RunNames {
  std::string a;
  std::string b;
};

std::string difference_text(std::string_view what, const std::string& a, const std::string& b,
                            const RunNames& names) {
  return fmt::format("{}: {} in {}, {} in {}", what, a.empty() ? "none" : a, names.a, b.empty() ? "none" : b,
                     names.b);
}

void note(std::vector<std::string>& notes, std::string_view what, const std::string& a, const std::string& b,
          const RunNames& names) {
  if (a != b) notes.push_back(difference_text(what, a, b, names));
}

Touched touched_by(const FactName& fact) {
  if (fact.group == std::string_view(fact::cpu)) return Touched::host_times;
  return fact.group == std::string_view(fact::gpu) ? Touched::gpu_variants : Touched::all_times;
}

template <class Facts>
bool holds_fact(const Facts& facts, std::string_view group, std::string_view name) {
  return std::ranges::any_of(facts,
                             [&](const FactName& fact) { return fact.group == group && fact.name == name; });
}

template <class Facts>
void note_facts(std::vector<Unlike>& unlike, const Facts& facts, const Run& a, const Run& b,
                const RunNames& names) {
  for (const FactName& fact : facts) {
    const std::string in_a = known_fact(a, fact.group, fact.name);
    const std::string in_b = known_fact(b, fact.group, fact.name);
    if (in_a.empty() || in_b.empty() || in_a == in_b) continue;
    unlike.push_back({difference_text(fact_label(fact), in_a, in_b, names), touched_by(fact)});
  }
}

std::string fact_or_dash(const Environment& environment, const std::string& group, const std::string& name) {
  const Fact* fact = find_fact(environment, group, name);
  return fact == nullptr ? "not recorded" : fact_text(group, name, *fact);
}

/// Of a library that one of the runs did not need, no version is recorded there.
bool is_of_one_run(const Environment& a, const Environment& b, const std::string& group,
                   const std::string& name) {
  return group == "libraries" &&
         (find_fact(a, group, name) == nullptr || find_fact(b, group, name) == nullptr);
}

/// All other facts that differ, in the order of their groups.
void note_environment(std::vector<std::string>& notes, const Environment& a, const Environment& b,
                      const RunNames& names) {
  Environment both = a;
  for (const auto& [group, facts] : b) both[group].insert(facts.begin(), facts.end());
  for (const std::string& group : ordered_groups(both)) {
    for (const auto& [name, fact] : both[group]) {
      if (holds_fact(identifying_facts, group, name) || holds_fact(condition_facts, group, name) ||
          holds_fact(passing_facts, group, name) || is_of_one_run(a, b, group, name))
        continue;
      note(notes, fmt::format("{}, {}", group_title(group), fact_title(group, name)),
           fact_or_dash(a, group, name), fact_or_dash(b, group, name), names);
    }
  }
}

/// How many GPUs measured it; empty where none is known.
std::string gpus_of(const Run& run) {
  const PartIndex parts(run);
  std::set<std::string> gpus;
  for (const Case& c : run.cases) gpus.insert(parts.gpu_uuid(c.id));
  gpus.erase("");
  return gpus.empty() ? "" : format::count(gpus.size());
}

/// The files of each input: of which family and name, then file name and checksum.
using Contents = std::map<std::pair<std::string, std::string>, std::map<std::string, std::string>>;

Contents contents_of(const Run& run) {
  Contents contents;
  for (const InputFile& file : run.inputs) {
    if (!file.checksum.empty())
      contents[{file.family, file.name}][std::filesystem::path(file.path).filename().string()] =
          file.checksum;
  }
  return contents;
}

/// Those of `files` whose contents `others` has in no file.
std::vector<std::string> without_equal(const std::map<std::string, std::string>& files,
                                       const std::map<std::string, std::string>& others) {
  std::set<std::string> known;
  for (const auto& [name, checksum] : others) known.insert(checksum);
  std::vector<std::string> left;
  for (const auto& [name, checksum] : files) {
    if (!known.contains(checksum)) left.push_back(name);
  }
  return left;
}

/// Whether all that it has is of files of other tools, which are its measurement, and no input of one.
bool is_import(const Run& run) {
  return !run.variants.empty() && std::ranges::all_of(run.variants, &VariantInfo::is_imported);
}

/// By what the files hold, wherever they are. What only one run read is no difference.
void note_inputs(std::vector<Unlike>& unlike, const Run& a, const Run& b, const RunNames& names) {
  if (is_import(a) || is_import(b)) return;
  const Contents in_a = contents_of(a), in_b = contents_of(b);
  const auto described = [](const std::vector<std::string>& files,
                            const std::map<std::string, std::string>& checksums) {
    std::vector<std::string> texts;
    for (const std::string& file : files)
      texts.push_back(
          fmt::format("{} ({})", format::one_line(file), format::one_line(checksums.at(file).substr(0, 19))));
    return format::list(texts);
  };
  for (const auto& [input, files] : in_a) {
    const auto others = in_b.find(input);
    if (others == in_b.end()) continue;
    const std::vector<std::string> left = without_equal(files, others->second),
                                   right = without_equal(others->second, files);
    if (left.empty() || right.empty()) continue;
    unlike.push_back({difference_text(fmt::format("Contents of input {}", format::one_line(input.second)),
                                      described(left, files), described(right, others->second), names),
                      Touched::family_times, input.first});
  }
}

/// Its rounds would count double, and seem to be surer than they are.
void refuse_twice(const std::vector<Run>& runs, const std::vector<std::string>& names) {
  std::map<std::string, std::string> known;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [place, is_new] = known.emplace(run_stamp(runs[i]), names[i]);
    if (!is_new)
      throw Error(ExitCode::usage,
                  fmt::format("{} and {} are one and the same run, given twice on one side: give it once.",
                              place->second, names[i]));
  }
}

}  // namespace

Differences differences_between(const Run& a, const Run& b, const std::string& name_a,
                                const std::string& name_b) {
  const RunNames names{format::one_line(name_a), format::one_line(name_b)};
  Differences differences;
  note_facts(differences.unlike, identifying_facts, a, b, names);
  note_facts(differences.unlike, condition_facts, a, b, names);
  note_inputs(differences.unlike, a, b, names);
  note(differences.build, "mprof version", a.tool.version, b.tool.version, names);
  note(differences.build, "mprof revision", a.tool.revision, b.tool.revision, names);
  note(differences.named, "Quick run", a.plan.quick ? "yes" : "no", b.plan.quick ? "yes" : "no", names);
  note(differences.named, "State of the run", std::string(to_string(a.state)),
       std::string(to_string(b.state)), names);
  note(differences.named, "GPUs that measured", gpus_of(a), gpus_of(b), names);
  note_environment(differences.build, a.environment, b.environment, names);
  return differences;
}

std::vector<std::string> texts_of(const std::vector<Unlike>& unlike) {
  std::vector<std::string> texts;
  for (const Unlike& one : unlike) texts.push_back(one.text);
  return texts;
}

void require_one_origin(const std::vector<Run>& runs, const std::vector<std::string>& names) {
  refuse_twice(runs, names);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    Differences differences = differences_between(runs.front(), runs[i], names.front(), names[i]);
    std::vector<std::string> all = texts_of(differences.unlike);
    std::ranges::move(differences.build, std::back_inserter(all));
    if (all.empty()) continue;
    throw Error(ExitCode::incomparable,
                fmt::format("{} and {} cannot be put together on one side: {}. Runs of a side must be of one "
                            "machine, one build and the same inputs: record them so, or compare one of them.",
                            names.front(), names[i], fmt::join(all, "; ")));
  }
}

}  // namespace mprof
