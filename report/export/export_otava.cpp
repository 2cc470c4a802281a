// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/case_file.hpp"
#include "report/export/trackers.hpp"
#include "report/text/csv.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

/// Tests of Apache Otava: what its configuration calls a CSV file, and which columns of it hold times.
namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* table_folder = "otava";

/// A case over the runs that have it.
struct TrackedHistory {
  std::string id;
  std::vector<std::pair<const TrackedRun*, const TrackedCase*>> rows;
  std::vector<std::string> times;  ///< names of those that any row has
};

void require_one_machine(const std::vector<TrackedRun>& runs) {
  MachineFacts known{};
  for (const TrackedRun& run : runs) {
    const auto differences = machine_differences(known, run.machine, "earlier runs", run.name);
    if (!differences.empty()) {
      throw Error(ExitCode::incomparable,
                  fmt::format("--format otava: these runs are of different machines: {}. A history is of one "
                              "machine. Export the runs of each into a folder of its own.",
                              format::one_line(fmt::format("{}", fmt::join(differences, "; ")))));
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i].empty()) known[i] = run.machine[i];
    }
  }
}

const TrackedTime* find_time(const TrackedCase& c, std::string_view name) {
  const auto found = std::ranges::find(c.times, name, &TrackedTime::name);
  return found == c.times.end() ? nullptr : &*found;
}

/// The cases that have a time in any run, in the order in which they first appear.
std::vector<TrackedHistory> histories_of(const std::vector<TrackedRun>& runs) {
  std::vector<TrackedHistory> histories;
  std::map<std::string_view, std::size_t> places;
  for (const TrackedRun& run : runs) {
    for (const TrackedCase& c : run.cases) {
      if (c.times.empty()) continue;
      const auto [place, is_new] = places.try_emplace(c.id, histories.size());
      if (is_new) histories.push_back({c.id, {}, {}});
      TrackedHistory& history = histories[place->second];
      history.rows.emplace_back(&run, &c);
      for (const TrackedTime& one : c.times) {
        if (std::ranges::find(history.times, one.name) == history.times.end())
          history.times.push_back(one.name);
      }
    }
  }
  return histories;
}

fs::path table_of(const TrackedHistory& history) {
  return fs::path(table_folder) / (case_file(history.id).stem().string() + ".csv");
}

void write_table(const TrackedHistory& history, const fs::path& file) {
  std::vector<std::string> columns{"time", "run", "commit", "version"};
  for (const std::string& time : history.times) {
    for (const char* const part : {"", "_low", "_high"}) columns.push_back(time + part);
  }
  CsvFile table(file, columns);
  for (const auto& [run, c] : history.rows) {
    table.text(run->started).text(run->name).text(run->revision).text(run->version);
    for (const std::string& name : history.times) {
      const TrackedTime* const one = find_time(*c, name);
      one == nullptr ? table.nothing() : table.number(one->time.median);
      for (const auto end : {&Interval::low, &Interval::high}) {
        one == nullptr || !one->time.interval ? table.nothing() : table.number((*one->time.interval).*end);
      }
    }
    table.end_row();
  }
  table.commit();
}

/// A text as YAML has it in double quotes, which is how JSON has it.
std::string yaml_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Otava reads each field of a metric's column as a number, so that a time that some run lacks is no metric.
bool is_metric(const TrackedHistory& history, std::string_view name) {
  return std::ranges::all_of(history.rows,
                             [&](const auto& row) { return find_time(*row.second, name) != nullptr; });
}

std::string test_of(const TrackedHistory& history) {
  std::string metrics;
  for (const std::string& name : history.times) {
    if (is_metric(history, name)) {
      metrics += fmt::format("      {}:\n        column: {}\n        direction: -1\n",
                             yaml_text(history.id + "/" + name), yaml_text(name));
    } else {
      metrics += fmt::format("      # {}: not in every run\n", name);
    }
  }
  return fmt::format(
      "  {}:\n"
      "    type: csv\n"
      "    file: {}\n"
      "    time_column: time\n"
      "    attributes: [run, commit, version]\n"
      "    csv_options:\n"
      "      delimiter: \",\"\n"
      "      quote_char: '\"'\n"
      "    metrics:\n{}",
      yaml_text(history.id), yaml_text(table_of(history).string()), metrics);
}

std::string configuration(const std::vector<TrackedHistory>& histories) {
  std::string tests, names;
  for (const TrackedHistory& history : histories) {
    const auto is_one = [&](const std::string& name) { return is_metric(history, name); };
    if (std::ranges::none_of(history.times, is_one)) continue;  // which Otava would refuse
    tests += test_of(history);
    names += fmt::format("    - {}\n", yaml_text(history.id));
  }
  return fmt::format(
      "# Written by mprof export. In this folder: OTAVA_CONFIG=otava.yaml otava analyze mprof\n"
      "tests:\n{}test_groups:\n  mprof:\n{}",
      tests, names);
}

}  // namespace

std::vector<fs::path> write_otava(std::vector<TrackedRun> runs, const fs::path& directory) {
  std::ranges::stable_sort(runs, {}, &TrackedRun::started);
  require_one_machine(runs);
  const std::vector<TrackedHistory> histories = histories_of(runs);
  std::vector<fs::path> written;
  for (const TrackedHistory& history : histories) {
    written.push_back(directory / table_of(history));
    write_table(history, written.back());
  }
  written.push_back(directory / "otava.yaml");
  write_file(written.back(), configuration(histories));
  return written;
}

}  // namespace mprof
