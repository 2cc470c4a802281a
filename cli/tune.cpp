#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/planned_run.hpp"
#include "cli/progress.hpp"
#include "cli/sources.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "collectors/collector.hpp"
#include "device/device.hpp"
#include "model/derive/derive.hpp"
#include "model/rounds.hpp"
#include "model/version.hpp"
#include "report/analysis/kernels/op_metrics.hpp"
#include "report/text/format.hpp"
#include "report/views/tuning_view.hpp"
#include "report/wording/judgement.hpp"
#include "runner/coordinator.hpp"
#include "runner/measure.hpp"
#include "runner/source/compiler.hpp"
#include "runner/tuning/strategies.hpp"
#include "runner/tuning/tuned_file.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// Beside the search, in its directory.
constexpr const char* finals_folder = "finals";

/// More points are a record that nobody reads, and a search that does not end.
constexpr std::size_t most_points = 100'000;

/// Points that are measured again: the best and what is level with it, and some behind it in any case, since
/// a single round may have put them in the wrong order.
constexpr std::size_t fewest_finalists = 3, most_finalists = 8;

constexpr std::uint32_t rounds_of_finals = 5, rounds_of_quick_finals = 3;

std::uint32_t whole_option(const Arguments& arguments, const std::string& option, std::uint64_t most) {
  const std::optional<std::uint64_t> value = parse_whole(arguments.text(option));
  if (!value || *value < 1 || *value > most)
    throw Error(ExitCode::usage, fmt::format("--{} {}: give a whole number from 1 to {}.", option,
                                             arguments.text(option), most));
  return static_cast<std::uint32_t>(*value);
}

SearchSettings parse_search(const Arguments& arguments, std::uint64_t seed) {
  SearchSettings settings{.seed = seed};
  const std::string text = arguments.text("strategy");
  if (!from_string(text, settings.strategy)) {
    throw Error(ExitCode::usage,
                fmt::format("--strategy {}: there is no such strategy.{} They are grid, random "
                            "and halving.",
                            text, did_you_mean(text, {"grid", "random", "halving"})));
  }
  if (arguments.given("points") && settings.strategy != Strategy::random)
    throw Error(ExitCode::usage, "--points says how many points --strategy random draws: give both.");
  if (arguments.given("search-rounds") && settings.strategy == Strategy::halving)
    throw Error(ExitCode::usage,
                "--search-rounds: a search by halving says itself how many rounds a point has.");
  settings.draws = whole_option(arguments, "points", most_points);
  settings.rounds = whole_option(arguments, "search-rounds", 1000);
  return settings;
}

/// The variant that is asked for, with its sources built.
const VariantInfo& variant_of(const std::string& name, const std::vector<PluginSource>& sources) {
  const Registry& registry = Registry::instance();
  std::string id = name;
  std::error_code error;
  for (const PluginSource& source : sources) {
    if (is_source_name(name) && fs::equivalent(source.path, name, error)) id = source.variant;
  }
  const RegisteredVariant* const variant = registry.variant(id);
  std::vector<std::string> known;
  for (const RegisteredVariant* other : registry.variants()) known.push_back(other->info.id);
  if (variant == nullptr) {
    throw Error(ExitCode::usage, fmt::format("no variant is called '{}'.{} `mprof list` shows them all.",
                                             name, did_you_mean(name, known)));
  }
  if (!variant->info.parameters.empty()) return variant->info;
  throw Error(ExitCode::usage, fmt::format("{} has no parameters: there is nothing to tune.", id));
}

std::vector<PluginSource> load_sources_of(const Arguments& arguments, Sources& sources) {
  if (!is_source_name(arguments.text("VARIANT"))) return sources.load(arguments);
  if (arguments.given("source"))
    throw Error(ExitCode::usage, "VARIANT is a source already: leave --source out, or name the variant.");
  std::vector<std::string> flags = split(arguments.text("compiler-flags"), ' ');
  std::erase(flags, "");
  return sources.load({.patterns = {arguments.text("VARIANT")}, .flags = std::move(flags)});
}

void refuse_large_space(const VariantInfo& variant, const Plan& plan) {
  double points = 1;
  for (const ParameterInfo& parameter : variant.parameters) {
    const std::vector<std::string>& set = plan.settings.at(parameter.name);
    points *=
        static_cast<double>(set == std::vector<std::string>{"*"} ? parameter.values.size() : set.size());
  }
  if (points <= most_points) return;
  throw Error(ExitCode::usage,
              fmt::format("{} has {:.0f} points, of {} that a search may have at the most: narrow its "
                          "parameters with --set NAME=V,V.",
                          variant.id, points, most_points));
}

/// Every point of the variant, nothing of it measured. Whatever can be wrong with the request is found here.
Run search_run(const Arguments& arguments, const std::vector<PluginSource>& sources) {
  const Registry& registry = Registry::instance();
  const VariantInfo& variant = variant_of(arguments.text("VARIANT"), sources);
  RunRequest request = given_request(arguments, sources);
  request.patterns = {variant.id};
  for (const ParameterInfo& parameter : variant.parameters)
    request.settings.try_emplace(parameter.name, std::vector<std::string>{"*"});
  request.values = one_problem(arguments, *registry.family(variant.family), request.quick);
  if (request.passes.empty()) request.passes = {Pass::timing};
  if (std::ranges::count(request.passes, Pass::timing) == 0)
    throw Error(ExitCode::usage, "--passes: a search needs the timing pass, which verifies the outputs.");
  const std::string metric = arguments.text("objective").substr(0, arguments.text("objective").find(':'));
  if (is_of_kernels(metric)) {
    if (std::ranges::count(request.passes, Pass::counters) == 0) request.passes.push_back(Pass::counters);
    request.metrics = {metric};
  }
  if (!request.rounds) request.rounds = request.quick ? rounds_of_quick_finals : rounds_of_finals;
  if (!request.seed) request.seed = std::random_device{}();
  request.timeout = parse_seconds("timeout", arguments.text("timeout"));
  request.inputs = locate_inputs(arguments, registry);
  Run run;
  run.tool = {version, revision};
  run.command_line = arguments.command_line();
  run.started = utc_now();
  run.plan = make_plan(request, registry, Devices::instance());
  refuse_large_space(variant, run.plan);
  run.families = families_of(run.plan, registry);
  run.variants = variants_of(run.plan, registry);
  run.cases = make_cases(run.plan, registry);
  const auto reason = unavailable(*registry.variant(variant.id), Devices::instance());
  if (reason) throw Error(ExitCode::environment, fmt::format("{} cannot run here: {}", variant.id, *reason));
  skip_unavailable(run.cases, registry, Devices::instance());
  run.inputs = validate_inputs(run, registry);
  return run;
}

void print_wrapped(const std::string& text) {
  fmt::print("{}\n", format::wrapped(text, terminal_width(), 2));
}

bool is_skipped(const Case& c) {
  return case_status(c) == Status::skipped;
}

Run derived(const Run& run, const ResultDirectory& directory) {
  Run copy = run;
  derive(copy, directory.path());
  return copy;
}

/// Whether a setting is one value alone.
bool is_fixed(const std::vector<std::string>& values) {
  return values.size() == 1 && values.front() != "*";
}

/// The default of all parameters but those that --set gives one value, whether or not it is among the points
/// of the run; nothing of it measured. nullopt: it cannot be.
std::optional<Case> default_point(const Run& run) {
  const Registry& registry = Registry::instance();
  Plan plan = run.plan;
  for (const ParameterInfo& parameter : find_variant(run, plan.variants.front())->parameters) {
    std::vector<std::string>& values = plan.settings.at(parameter.name);
    if (!is_fixed(values)) values = {parameter.default_value};
  }
  std::vector<Case> cases = make_cases(plan, registry);
  skip_unavailable(cases, registry, Devices::instance());
  return is_skipped(cases.front()) ? std::nullopt : std::optional(std::move(cases.front()));
}

/// What all measuring of one search shares.
struct Bench {
  const Interrupts& interrupts;
  Progress& progress;
  bool quiet = false;
  std::vector<std::string> worker_command{fs::read_symlink("/proc/self/exe").string(), "worker"};

  void say(const std::string& text) const {
    if (!quiet) fmt::print(stderr, "{}\n", text);
  }
};

/// Measures the points that a strategy asks for, and keeps what it saw in one run.
class Search {
 public:
  Search(Run run, const fs::path& out, ResultDirectory::Mode mode, const Bench& bench,
         std::optional<Objective> objective)
      : run_(std::move(run)),
        directory_(out, mode, {.overwrite = true}),
        bench_(bench),
        full_(run_.plan.stopping),
        objective_(std::move(objective)),
        default_point_(mprof::cli::default_point(run_)) {
    points_ = run_.cases.size();
    for (std::size_t i = 0; i < run_.cases.size(); ++i) {
      if (!is_skipped(run_.cases[i])) at_.push_back(i);
    }
    is_default_searched_ =
        default_point_ && std::ranges::count(run_.cases, default_point_->key, &Case::key) > 0;
  }

  /// For `budget` seconds at the most.
  void run(const SearchSettings& settings, std::optional<double> budget) {
    directory_.save(run_);
    directory_.save_sources(run_);
    run_.plan.rounds = 1;
    coordinate(std::vector<std::uint32_t>(run_.cases.size(), 0));  // looks at the machine
    if (budget) deadline_ = clock_.now() + *budget;
    const bool is_of_some = settings.strategy == Strategy::random;
    if (!was_interrupted()) {
      search(at_.size(), settings, [&](const Rung& rung) {
        if (is_of_some) keep(rung);
        return measured(rung);
      });
    }
    close(budget);
  }

  [[nodiscard]] bool was_interrupted() const { return run_.state == RunState::interrupted; }
  [[nodiscard]] bool was_out_of_time() const { return is_out_of_time_; }
  [[nodiscard]] std::size_t points() const { return points_; }
  [[nodiscard]] const Run& record() const { return run_; }
  /// Where it can be, whether it is searched or not; nothing of it measured.
  [[nodiscard]] const std::optional<Case>& default_point() const { return default_point_; }
  /// Whether it is one of the points, drawn or not. Otherwise it can be no answer.
  [[nodiscard]] bool is_default_searched() const { return is_default_searched_; }
  [[nodiscard]] const Stopping& full_round() const { return full_; }
  [[nodiscard]] const ResultDirectory& directory() const { return directory_; }
  [[nodiscard]] Run seen() const { return derived(run_, directory_); }
  /// What it was told, or what its points allow.
  [[nodiscard]] const Objective& objective() const { return *objective_; }

 private:
  void coordinate(const std::vector<std::uint32_t>& rounds) {
    CoordinatorContext context{bench_.worker_command, directory_, clock_, bench_.progress,
                               bench_.interrupts.fd()};
    context.rounds = rounds;
    context.deadline = deadline_;
    mprof::coordinate(run_, context);
  }

  /// The run has the points that were drawn, and no others.
  void keep(const Rung& rung) {
    std::vector<std::size_t> drawn = rung.points;
    std::ranges::sort(drawn);
    std::vector<Case> kept;
    for (const std::size_t point : drawn) {
      kept.push_back(std::move(run_.cases[at_[point]]));
      at_[point] = kept.size() - 1;
    }
    run_.cases = std::move(kept);
  }

  std::optional<Costs> measured(const Rung& rung) {
    std::vector<std::uint32_t> rounds(run_.cases.size(), 0);
    for (const std::size_t point : rung.points) rounds[at_[point]] = rung.rounds;
    run_.plan.rounds = std::max(run_.plan.rounds, rung.rounds);
    run_.plan.stopping = shortened(full_, rung.effort);
    bench_.say(fmt::format("search: {}, {}", format::plural(rung.points.size(), "point"),
                           format::plural(rung.rounds, "round")));
    coordinate(rounds);
    const Run now = seen();
    if (!objective_) objective_ = usual_objective(now);
    is_out_of_time_ = clock_.now() >= deadline_;
    if (was_interrupted() || is_out_of_time_) return std::nullopt;
    std::vector<std::optional<double>> cost_of_case(run_.cases.size());
    for (const Candidate& candidate : ranked(now, *objective_)) {
      if (candidate.value) cost_of_case[candidate.index] = cost_of(candidate.value, *objective_);
    }
    Costs costs;
    for (const std::size_t point : rung.points) costs.push_back(cost_of_case[at_[point]]);
    return costs;
  }

  /// A share of a round's sampling; never fewer samples than a median needs.
  static Stopping shortened(Stopping stopping, double effort) {
    constexpr std::uint32_t fewest = 3;
    stopping.max_seconds *= effort;
    const auto samples = static_cast<std::uint32_t>(effort * stopping.max_samples);
    stopping.max_samples = std::min(stopping.max_samples, std::max(samples, fewest));
    stopping.min_samples = std::min(stopping.min_samples, stopping.max_samples);
    return stopping;
  }

  /// What was not reached says why, unless whoever interrupted it knows.
  void close(std::optional<double> budget) {
    run_.plan.stopping = full_;
    if (!objective_) objective_ = usual_objective(seen());
    if (was_interrupted()) return directory_.save(run_);
    for (Case& c : run_.cases) {
      bool is_open = false;
      for (PassResult& pass : c.passes) {
        if (pass.status != Status::pending) continue;
        is_open = true;
        pass.status = Status::skipped;
        pass.reason = fmt::format("not tried: the budget of {:g} s was spent", budget.value_or(0));
      }
      if (is_open) directory_.save(c);
    }
    directory_.save(run_);
  }

  Run run_;
  ResultDirectory directory_;
  const Bench& bench_;
  Stopping full_;
  std::optional<Objective> objective_;
  std::optional<Case> default_point_;
  bool is_default_searched_ = false;
  std::size_t points_ = 0;       ///< that there are, with those that cannot be
  std::vector<std::size_t> at_;  ///< the case of each point that the strategy chooses among
  const Clock& clock_ = steady_clock();
  double deadline_ = std::numeric_limits<double>::infinity();
  bool is_out_of_time_ = false;
};

/// The best points of a search, once more: in fresh processes, in turns, and by themselves. What a search
/// says of its winner is too good on average, since it was chosen for being good.
class Finals {
 public:
  Finals(const Search& search, const std::vector<Candidate>& ranking, const Bench& bench,
         std::uint32_t rounds)
      : run_(run_of(search, chosen(search, ranking), rounds)),
        directory_(search.directory().path() / finals_folder, ResultDirectory::Mode::create),
        bench_(bench) {}

  void run(bool adds_rounds) {
    directory_.save(run_);
    directory_.save_sources(run_);
    bench_.say(fmt::format("once more, side by side: {}, {}", format::plural(run_.cases.size(), "point"),
                           format::plural(run_.plan.rounds, "round")));
    coordinate(run_, {bench_.worker_command, directory_, steady_clock(), bench_.progress,
                      bench_.interrupts.fd(), adds_rounds});
  }

  [[nodiscard]] bool was_interrupted() const { return run_.state == RunState::interrupted; }
  [[nodiscard]] const Run& record() const { return run_; }
  [[nodiscard]] Run seen() const { return derived(run_, directory_); }

 private:
  /// The finalists, and the default, which the answer is told against unless it was measured and not right.
  static std::vector<CaseKey> chosen(const Search& search, const std::vector<Candidate>& ranking) {
    std::vector<CaseKey> keys;
    for (const std::size_t place : finalists(ranking, fewest_finalists, most_finalists))
      keys.push_back(ranking[place].result.key);
    const std::optional<Case>& usual = search.default_point();
    if (!usual || std::ranges::find(keys, usual->key) != keys.end()) return keys;
    const bool is_broken = std::ranges::any_of(ranking, [&](const Candidate& candidate) {
      return candidate.result.key == usual->key && !candidate.value &&
             candidate.result.status != Status::skipped;
    });
    if (!is_broken) keys.push_back(usual->key);
    return keys;
  }

  static Run run_of(const Search& search, const std::vector<CaseKey>& keys, std::uint32_t rounds) {
    Run run = search.record();
    run.started = utc_now();
    run.finished.clear();
    run.plan.rounds = rounds;
    run.plan.stopping = search.full_round();
    std::erase_if(run.cases, [&](const Case& c) { return std::ranges::find(keys, c.key) == keys.end(); });
    if (run.cases.size() < keys.size()) add_default(run, *search.default_point());
    for (Case& c : run.cases) {
      for (PassResult& pass : c.passes) pass = {.pass = pass.pass, .reason = "not run yet"};
    }
    return run;
  }

  /// It was not drawn, or is none of the points: then the plan has its values besides.
  static void add_default(Run& run, const Case& usual) {
    for (const auto& [name, value] : usual.key.parameters) {
      std::vector<std::string>& values = run.plan.settings.at(name);
      if (values.front() != "*" && std::ranges::count(values, value) == 0) values.push_back(value);
    }
    run.cases.push_back(usual);
  }

  Run run_;
  ResultDirectory directory_;
  const Bench& bench_;
};

/// Those of --set that name one value alone: the answer holds for them.
Parameters fixed_values(const Plan& plan) {
  Parameters fixed;
  for (const auto& [name, values] : plan.settings) {
    if (is_fixed(values)) fixed[name] = values.front();
  }
  return fixed;
}

/// Those of --set that name several.
std::map<std::string, std::vector<std::string>> searched_values(const Plan& plan) {
  std::map<std::string, std::vector<std::string>> searched;
  for (const auto& [name, values] : plan.settings) {
    if (values.size() > 1) searched[name] = values;
  }
  return searched;
}

TunedEntry entry_of(const Arguments& arguments, const Search& search, const std::vector<Candidate>& best,
                    std::size_t measured) {
  const Run& run = search.record();
  const VariantInfo& variant = *find_variant(run, run.plan.variants.front());
  const Candidate& winner = best.front();
  TunedEntry entry{.variant = variant.id,
                   .problem = winner.result.key.problem,
                   .metric = search.objective().metric,
                   .op = search.objective().op,
                   .fixed = fixed_values(run.plan),
                   .searched = searched_values(run.plan),
                   .holds_for = tuned_for(run, variant),
                   .parameters = winner.result.key.parameters,
                   .value = winner.value->median};
  if (winner.value->interval) entry.interval = {winner.value->interval->low, winner.value->interval->high};
  entry.disturbed = disturbed_text(winner.value->disturbed);
  for (const Candidate& candidate : best) {
    if (candidate.standing == Standing::level || candidate.standing == Standing::unclear)
      entry.level.push_back(candidate.result.key.parameters);
  }
  entry.strategy = arguments.text("strategy");
  entry.measured = measured;
  entry.points = search.points();
  entry.tool = run.tool;
  entry.finished = utc_now();
  entry.result = search.directory().path().string();
  return entry;
}

void remove_finals(const fs::path& out) {
  std::error_code ignored;  // there are none, mostly
  fs::remove_all(out / finals_folder, ignored);
}

std::size_t count_values(const std::vector<Candidate>& candidates) {
  return static_cast<std::size_t>(
      std::ranges::count_if(candidates, [](const Candidate& c) { return !!c.value; }));
}

/// What mprof run must be told besides, to have an entry's problem and the values that it holds for.
std::string options_for(const TunedEntry& entry, const VariantInfo& variant) {
  std::string options;
  for (const auto& [name, value] : entry.fixed) {
    const auto parameter = std::ranges::find(variant.parameters, name, &ParameterInfo::name);
    if (parameter == variant.parameters.end() || parameter->default_value != value)
      options += fmt::format(" --set {}={}", name, value);
  }
  const std::vector<Problem> usual = Registry::instance().family(variant.family)->default_problems(false);
  if (std::ranges::count(usual, entry.problem) > 0) return options;
  for (const Coordinate& c : entry.problem.coordinates) options += fmt::format(" --{} {}", c.axis, c.value);
  return options;
}

/// "3 of 16 points (--set a=1,2)": what an answer was found among.
std::string extent_of(const TunedEntry& entry) {
  std::vector<std::string> settings;
  for (const auto& [name, values] : entry.searched)
    settings.push_back(fmt::format("--set {}={}", name, fmt::join(values, ",")));
  const std::string points = format::plural(entry.points, "point");
  return fmt::format(
      "{}{}", entry.measured == entry.points ? points : fmt::format("{} of {}", entry.measured, points),
      settings.empty() ? "" : fmt::format(" ({})", fmt::join(settings, " ")));
}

/// What is said at the end, and what it is worth.
class Answer {
 public:
  Answer(const Arguments& arguments, const Search& search, Run searched)
      : arguments_(arguments), search_(search), searched_(std::move(searched)) {
    const Run& run = search.record();
    outcome_.variant = run.plan.variants.front();
    outcome_.strategy = arguments.text("strategy");
    outcome_.points = search.points();
    if (search.default_point()) outcome_.usual = search.default_point()->key.parameters;
    outcome_.all = ranked(searched_, search.objective());
    if (search.was_out_of_time())
      outcome_.ended = fmt::format("The budget of {} s ended the search.", arguments.text("budget"));
    if (search.was_interrupted()) outcome_.ended = "It was interrupted.";
  }

  [[nodiscard]] const std::vector<Candidate>& ranking() const { return outcome_.all; }
  [[nodiscard]] bool has_best() const { return count_values(outcome_.best) > 0; }
  [[nodiscard]] bool has_wrong_outputs() const {
    return std::ranges::any_of(outcome_.all, [](const Candidate& candidate) {
      return !candidate.result.ok() && candidate.result.status != Status::skipped;
    });
  }
  /// Whether the budget ended before any point was measured.
  [[nodiscard]] bool had_no_time() const {
    return search_.was_out_of_time() && std::ranges::all_of(outcome_.all, [](const Candidate& candidate) {
             return candidate.result.status == Status::skipped;
           });
  }
  void take(Run finals) {
    finals_ = std::move(finals);
    if (search_.default_point() && !search_.is_default_searched()) set_default_beside();
    outcome_.best = ranked(finals_, search_.objective());
  }

  void print() {
    const Run& run = search_.record();
    const FamilyInfo& family = run.families.front();
    const Words words(family, {run.plan.problems.at(family.id).front()});
    outcome_.where = words.at(run.plan.problems.at(family.id).front());
    // The default may be measured among the best though its turn in the search never came.
    std::erase_if(outcome_.all, [&](const Candidate& candidate) {
      return !candidate.value && std::ranges::any_of(outcome_.best, [&](const Candidate& one) {
        return one.value && one.result.key == candidate.result.key;
      });
    });
    std::fputs(render_tuning(outcome_, search_.objective(), family, words, terminal_width()).c_str(), stdout);
  }

  /// Adds it to the file.
  void keep(const fs::path& file) const {
    const TunedEntry entry = entry_of(arguments_, search_, outcome_.best, count_values(outcome_.all));
    const std::optional<TunedEntry> replaced = add_tuned(file, entry);
    const std::string name = arguments_.text("VARIANT");
    print_wrapped(fmt::format("\nKept in {0}: {1}. Use it: mprof run --tuned={0} {2} {3}{4}", file.string(),
                              point_name(entry.parameters), is_source_name(name) ? "--source" : "--variant",
                              name, options_for(entry, *find_variant(search_.record(), entry.variant))));
    if (replaced)
      print_wrapped(fmt::format("It replaces {} of {}, found among {}.", point_name(replaced->parameters),
                                replaced->finished, extent_of(*replaced)));
    if (!entry.disturbed.empty())
      print_wrapped(fmt::format("The measurement was disturbed ({}): search again when the machine is quiet.",
                                causes_text({.by = disturbances_in(entry.disturbed)})));
  }

 private:
  /// It is told against, and does not compete: --set left it out.
  void set_default_beside() {
    const auto is_usual = [&](const Case& c) { return c.key == search_.default_point()->key; };
    default_ = finals_;
    std::erase_if(default_.cases, [&](const Case& c) { return !is_usual(c); });
    std::erase_if(finals_.cases, is_usual);
    outcome_.beside = ranked(default_, search_.objective()).front();
  }

  const Arguments& arguments_;
  const Search& search_;
  Run searched_, finals_, default_;  ///< what the outcome points into
  TuningOutcome outcome_;
};

std::optional<Objective> objective_of(const Arguments& arguments, const Run& run) {
  if (!arguments.given("objective")) return std::nullopt;
  const std::string text = arguments.text("objective");
  const Objective objective = parse_objective(text, run.families.front(), run.cases.front().ops);
  require_values(text, objective, run);
  const Device& device = *Devices::instance().find(find_variant(run, run.plan.variants.front())->device);
  if (device.id() != "cpu")
    return objective;  // to ask a GPU's collectors would open a profiler in this process
  const Pass pass = pass_of(objective);
  if (const auto reason = pass_unavailable(CollectorKinds::instance(), pass, device)) {
    throw Error(ExitCode::environment, fmt::format("--objective {}: the {} pass cannot run here: {}", text,
                                                   to_string(pass), *reason));
  }
  return objective;
}

/// The exit code when nothing is interrupted.
ExitCode finish(Answer& answer, const fs::path& file) {
  answer.print();
  if (answer.had_no_time()) {
    print_wrapped(fmt::format("\nNo point was measured by then: {} is as it was. Give a longer --budget.",
                              file.string()));
    return ExitCode::wrong_output;  // there is none
  }
  if (!answer.has_best()) {
    print_wrapped(fmt::format("\nNo point gave what is asked for with a right output: {} is as it was.",
                              file.string()));
    return answer.has_wrong_outputs() ? ExitCode::wrong_output : ExitCode::usage;
  }
  answer.keep(file);
  return ExitCode::success;
}

int tune(const Arguments& arguments) {
  const bool quiet = arguments.flag("quiet");
  Sources sources(arguments, quiet);
  Run run = search_run(arguments, load_sources_of(arguments, sources));
  const SearchSettings settings = parse_search(arguments, run.plan.seed);
  std::optional<double> budget;
  if (arguments.given("budget")) budget = parse_seconds("budget", arguments.text("budget"));
  const fs::path file = arguments.text("tuned");
  std::error_code error;
  // None of these shall cost a search.
  if (fs::exists(file, error)) static_cast<void>(read_tuned(file));
  require_writable(file);
  const std::optional<Objective> objective = objective_of(arguments, run);
  const std::uint32_t rounds = static_cast<std::uint32_t>(
      arguments.given("rounds") ? parse_rounds(arguments.text("rounds")) : run.plan.rounds);
  const fs::path out =
      arguments.given("out") ? fs::path(arguments.text("out")) : default_result_path(run.started, "tune");
  const bool replaces = arguments.flag("overwrite");
  const Interrupts interrupts;
  const auto progress = make_progress(style_of(quiet), steady_clock());
  const Bench bench{interrupts, *progress, quiet};
  Search search(std::move(run), out,
                replaces ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create, bench,
                objective);
  if (replaces) remove_finals(out);
  search.run(settings, budget);
  Answer answer(arguments, search, search.seen());
  bool was_interrupted = search.was_interrupted();
  if (!was_interrupted && count_values(answer.ranking()) > 0) {
    Finals finals(search, answer.ranking(), bench, rounds);
    finals.run(!arguments.given("rounds"));
    was_interrupted = finals.was_interrupted();
    if (!was_interrupted) answer.take(finals.seen());
  }
  if (was_interrupted) {
    answer.print();
    print_wrapped(fmt::format("\nInterrupted: nothing is kept in {}. What was measured: mprof report {}",
                              file.string(), out.string()));
    return static_cast<int>(ExitCode::interrupted);
  }
  const ExitCode code = finish(answer, file);
  print_wrapped(
      code == ExitCode::success
          ? fmt::format("Result: {0}. Next: mprof report {0} (the search, as a sweep), mprof report "
                        "{0}/{1} (the best points alone)",
                        out.string(), finals_folder)
          : fmt::format("Result: {0}. Next: mprof report {0}", out.string()));
  return static_cast<int>(code);
}

}  // namespace

Verb tune_verb() {
  std::vector<Option> options{
      {"set", "NAME=V,...", "",
       "The values of a parameter to search among; without it all that the variant declares. One value fixes "
       "it, and the answer holds for that value: a precision, for one.",
       true},
      {"objective", "METRIC[:OP]", "",
       "What is to be good, by the name that the record has for it, of one op or of all together: op_time, "
       "group_time:OP, total_time, a quality, a counter. Without it op_time, or group_time "
       "where "
       "the op time of some point leaves its work out."},
      {"strategy", "NAME", "grid",
       "grid: every point. random: some, drawn. halving: every point shortly, the better half of them twice "
       "as "
       "long, and so on until at most four are left."},
      {"points", "N", "60",
       "Of a random search: how many are drawn. Of 60, the best is among the best 5 % of all with a "
       "probability of 95 %."},
      {"search-rounds", "N", "1",
       "Of a grid or a random search: fresh processes that each point is timed in."},
      {"budget", "S", "",
       "Longest that the search goes on, in seconds; what was not tried then is said. Looking at the machine "
       "before it and measuring the best once more after it are not in it."},
      {"rounds", "N", "",
       "Fresh processes in which the best points are measured once more, side by side; without it 5, and up "
       "to "
       "10 where their intervals become narrow enough, with --quick 3."},
      {"quick", "", "", "A small problem and few repeats: minutes become seconds, and intervals wider."},
      {"passes", "LIST", "timing",
       "What else to run, where the objective comes from there: timing,trace. A counter brings its own."},
      {"seed", "N", "random", "Seed of what is drawn and of the order; it is kept in the record."},
      {"sampling-time", "S", "",
       "Longest that the samples of a point are taken in five rounds, in seconds; without it 15, with "
       "--quick "
       "1.5."},
      {"timeout", "S", "600", "Time limit of a point in one round, in seconds."},
      {"tuned", "FILE", tuned_file_name,
       "Where the answer is kept, beside those that are there: of this variant, problem, objective, machine "
       "and source."},
      {"out", "DIR", "results/<UTC time>-tune", "The result directory of the search."},
      {"overwrite", "", "", "Replace what is in --out."},
      {"quiet", "", "", "Print only what goes wrong, and the answer."},
  };
  add_source_options(options);
  std::erase_if(options, [](const Option& option) { return option.name == "against"; });
  add_axis_options(options, Registry::instance(), AxisUse::largest);
  add_input_options(options, Registry::instance());
  return {
      .name = "tune",
      .positional = "VARIANT",
      .summary = "search the best values of a variant's parameters, and keep them",
      .description =
          "Measures points of a variant's parameters at one problem, verifies every output, measures the "
          "best "
          "ones again side by side in fresh processes, and says which is best, with its interval, and which "
          "are "
          "level with it. The answer is kept in tuned.json for this GPU, driver, toolkit and source; `mprof "
          "run "
          "--tuned` uses it. Values that the variant says cannot go together are skipped with the reason; a "
          "point whose output is wrong, or that crashes, stays in the record and never wins. "
          "docs/guides/tune.md "
          "tells "
          "more.",
      .options = std::move(options),
      .run = tune,
      .takes_sources = true};
}

}  // namespace mprof::cli
