#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/sources.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "model/derive/derive.hpp"
#include "model/version.hpp"
#include "report/views/session_view.hpp"
#include "runner/coordinator.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// What stands at one side: a variant with values of its parameters, in one build of mprof.
struct Side {
  std::string name{};     ///< as the user wrote it
  std::string variant{};  ///< its id
  std::map<std::string, std::vector<std::string>> settings{};
  std::string program{};                ///< whose workers run it
  std::vector<PluginSource> sources{};  ///< what it is built from, where it is none of mprof's own
};

/// The sources among A and B, built together: one may be the other's baseline, and their names must differ.
std::vector<PluginSource> build_sources(const Arguments& arguments, Sources& sources) {
  std::vector<std::string> files;
  for (const char* side : {"A", "B"}) {
    if (is_source_name(arguments.text(side))) files.push_back(arguments.text(side));
  }
  return sources.load({.patterns = files});
}

/// What this variant is built from: its file, and that of its family.
std::vector<PluginSource> sources_of(const std::string& variant, const std::vector<PluginSource>& sources) {
  std::vector<PluginSource> own;
  std::ranges::copy_if(sources, std::back_inserter(own), [&](const PluginSource& source) {
    return source.family.empty() ? source.variant == variant
                                 : source.family == family_of(std::string_view(variant));
  });
  return own;
}

/// The side whose variant is built from the file of this name; nullopt where it is none of the sources.
std::optional<Side> source_side(const std::string& name, const std::string& program,
                                const std::vector<PluginSource>& sources) {
  std::error_code error;
  for (const PluginSource& source : sources) {
    if (fs::equivalent(source.path, name, error))
      return Side{.name = name, .variant = source.variant, .program = program};
  }
  return std::nullopt;
}

/// nullopt where the name begins with no variant's id.
std::optional<Side> variant_side(const std::string& name, const std::string& program) {
  Side side{.name = name, .variant = name.substr(0, name.find('[')), .program = program};
  if (Registry::instance().variant(side.variant) == nullptr) return std::nullopt;
  const std::optional<VariantPoint> point = parse_variant_point(name);
  if (!point)
    throw Error(ExitCode::usage,
                fmt::format("{}: parameters are written behind the variant as [NAME=VALUE,...].", name));
  for (const auto& [parameter, value] : point->parameters) side.settings[parameter] = {value};
  return side;
}

bool is_program(const fs::path& path) {
  return fs::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0;
}

Side side_of(const Arguments& arguments, const std::string& name, const std::vector<PluginSource>& sources) {
  const std::string own = fs::read_symlink("/proc/self/exe").string();
  auto of_this_build = variant_side(name, own);
  if (!of_this_build) of_this_build = source_side(name, own, sources);
  if (of_this_build) {
    of_this_build->sources = sources_of(of_this_build->variant, sources);
    return *of_this_build;
  }
  if (is_program(name)) {
    auto side = variant_side(arguments.text("variant"), fs::canonical(name).string());
    if (side) return side->name = name, *side;
    throw Error(
        ExitCode::usage,
        fmt::format("{} is a program: say with --variant ID what to run with it (`mprof list`).", name));
  }
  std::error_code error;
  if (fs::exists(name, error)) {
    const bool is_folder = fs::is_directory(name, error);
    throw Error(ExitCode::usage,
                fmt::format("{} is {}: to measure another build of mprof give the path of its program{}.",
                            name, is_folder ? "a folder" : "a file that cannot be executed",
                            is_folder ? "" : ", and let it be executed (`chmod +x`)"));
  }
  std::vector<std::string> known;
  for (const RegisteredVariant* variant : Registry::instance().variants()) known.push_back(variant->info.id);
  throw Error(ExitCode::usage,
              fmt::format("{} is neither a variant nor another build of mprof.{} `mprof list` "
                          "shows the variants.",
                          name, did_you_mean(name, known)));
}

/// One of the three that a session runs, each with a record of its own.
struct Arm {
  Side side{};
  Run run{};
  std::unique_ptr<ResultDirectory> directory{};
};

Run new_run(const Arguments& arguments, const Side& side, std::uint64_t seed) {
  const Registry& registry = Registry::instance();
  RunRequest request;
  request.patterns = {side.variant};
  request.sources = side.sources;
  request.settings = side.settings;
  request.passes = {Pass::timing};
  request.values = one_problem(arguments, *registry.family(registry.variant(side.variant)->info.family));
  request.rounds = 1;
  request.seed = seed;
  request.max_seconds = parse_seconds("sampling-time", arguments.text("sampling-time"));
  request.timeout = parse_seconds("timeout", arguments.text("timeout"));
  request.inputs = locate_inputs(arguments, registry);
  Run run;
  run.tool = {version, revision};
  run.command_line = arguments.command_line();
  run.started = utc_now();
  run.plan = make_plan(request, registry, Devices::instance());
  run.plan.stopping.max_samples = 20;  // more rounds tell more than more samples
  run.plan.rounds = 0;
  run.families = families_of(run.plan, registry);
  run.variants = variants_of(run.plan, registry);
  run.cases = make_cases(run.plan, registry);
  skip_unavailable(run.cases, registry, Devices::instance());
  run.inputs = validate_inputs(run, registry);
  const PassResult* const timing = find_pass(run.cases.at(0), Pass::timing);
  if (timing->status == Status::skipped)
    throw Error(ExitCode::environment, fmt::format("{} cannot run here: {}", side.variant, timing->reason));
  return run;
}

/// Runs the three arms round by round, and says after each block what they have told.
class SessionRunner {
 public:
  SessionRunner(std::array<Arm, 3> arms, const Arguments& arguments, std::uint64_t seed)
      : arms_(std::move(arms)),
        budget_(parse_seconds("budget", arguments.text("budget"))),
        quiet_(arguments.flag("quiet")),
        progress_(make_progress(ProgressStyle::quiet, clock_)),
        random_(seed) {}

  /// Until it is told, or the budget is spent.
  Session run() {
    Session session;
    while (session.blocks < most_blocks() && (session.blocks < 3 || seconds() < budget_)) {
      if (!run_block()) break;
      session = judged();
      say(session);
      if (is_look(session.blocks) && session.told()) break;
    }
    return session;
  }

  [[nodiscard]] double seconds() const { return clock_.now() - start_; }
  [[nodiscard]] const Arm& first() const { return arms_[0]; }
  [[nodiscard]] bool was_interrupted() const { return interrupted_; }

 private:
  /// The arms in an order of this block's own, and back again. False when the session is over.
  bool run_block() {
    std::array<Arm*, 3> order{&arms_[0], &arms_[1], &arms_[2]};
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
    for (Arm* const arm : order) {
      if (!run_round(*arm)) return false;
    }
    return std::all_of(order.rbegin(), order.rend(), [&](Arm* arm) { return run_round(*arm); });
  }

  bool run_round(Arm& arm) {
    ++arm.run.plan.rounds;
    if (arm.run.environment.empty()) take_environment(arm);
    coordinate(arm.run, {{arm.side.program, "worker"}, *arm.directory, clock_, *progress_, interrupts_.fd()});
    interrupted_ = arm.run.state == RunState::interrupted;
    if (interrupted_) return false;
    const PassResult& timing = *find_pass(arm.run.cases.at(0), Pass::timing);
    if (timing.status == Status::ok) return true;
    throw Error(ExitCode::wrong_output,
                fmt::format("{} is {}: {}. What was measured is in {}.", arm.side.name,
                            to_string(timing.status), timing.reason, arm.directory->path().string()));
  }

  void say(const Session& session) const {
    if (quiet_) return;
    const auto told = std::ranges::count_if(session.times, [](const SessionTime& time) {
      return time.speed_up.verdict != Verdict::inconclusive;
    });
    fmt::print(stderr, "block {}, {:.0f} s: {} of {} times told\n", session.blocks, seconds(), told,
               session.times.size());
  }

  /// One survey for all arms of one build.
  void take_environment(Arm& arm) const {
    for (const Arm& other : arms_) {
      if (other.run.environment.empty() || other.side.program != arm.side.program) continue;
      arm.run.environment = other.run.environment;
      arm.run.ceilings = other.run.ceilings;
    }
  }

  Session judged() {
    std::array<Run, 3> runs{arms_[0].run, arms_[1].run, arms_[2].run};
    for (Run& run : runs) derive_variation(run);
    return judge_session(runs[0].cases.at(0), runs[1].cases.at(0), runs[2].cases.at(0));
  }

  std::array<Arm, 3> arms_;
  const Clock& clock_ = steady_clock();
  double budget_;
  bool quiet_;
  double start_ = clock_.now();
  Interrupts interrupts_;
  std::unique_ptr<Progress> progress_;
  std::mt19937_64 random_;
  bool interrupted_ = false;
};

std::array<Arm, 3> make_arms(const Arguments& arguments, std::uint64_t seed, Sources& sources) {
  const std::vector<PluginSource> built = build_sources(arguments, sources);
  const Side a = side_of(arguments, arguments.text("A"), built),
             b = side_of(arguments, arguments.text("B"), built);
  std::array<Arm, 3> arms{Arm{.side = a}, Arm{.side = b}, Arm{.side = a}};
  for (Arm& arm : arms) arm.run = new_run(arguments, arm.side, seed);
  if (arms[0].run.cases.at(0).key.problem != arms[1].run.cases.at(0).key.problem)
    throw Error(ExitCode::incomparable,
                fmt::format("{} and {} are of different families: there is no problem that both solve.",
                            a.name, b.name));
  const fs::path out = arguments.given("out") ? fs::path(arguments.text("out"))
                                              : fs::path(default_result_path(utc_now(), "ab"));
  const std::array<const char*, 3> names{"A", "B", "A-again"};
  for (std::size_t i = 0; i < arms.size(); ++i) {
    arms[i].directory = std::make_unique<ResultDirectory>(
        out / names[i],
        arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create,
        ResultDirectory::Offers{.overwrite = true});
    arms[i].directory->save(arms[i].run);
    arms[i].directory->save_sources(arms[i].run);
  }
  return arms;
}

int ab(const Arguments& arguments) {
  const std::uint64_t seed = std::random_device{}();
  const std::string format = arguments.text("format");
  if (format != "text" && format != "json")
    throw Error(ExitCode::usage, fmt::format("--format {}: a session has text and json.", format));
  Sources sources(arguments, arguments.flag("quiet"));  // as long as the session lasts
  SessionRunner runner(make_arms(arguments, seed, sources), arguments, seed);
  const Session session = runner.run();
  if (session.blocks < 2) {
    fmt::print(stderr, "mprof: interrupted before two blocks were measured: nothing can be said.\n");
    return static_cast<int>(ExitCode::interrupted);
  }
  const Run& run = runner.first().run;
  const Case& c = run.cases.at(0);
  const Words words(*find_family(run, run.variants.at(0).family), {c.key.problem});
  const SessionSides sides{arguments.text("A"), arguments.text("B"), words.at(c.key.problem),
                           runner.seconds()};
  if (format == "json") {
    fmt::print("{}\n",
               session_json(session, sides).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    std::fputs(render_session(session, sides, words, terminal_width()).c_str(), stdout);
    fmt::print("Result: {}\n", runner.first().directory->path().parent_path().string());
  }
  if (runner.was_interrupted()) return static_cast<int>(ExitCode::interrupted);
  return static_cast<int>(session.is_slower() ? ExitCode::regression : ExitCode::success);
}

}  // namespace

Verb ab_verb() {
  std::vector<Option> options{
      {"variant", "ID", "", "Where A and B are builds of mprof: the variant that both run."},
      {"budget", "S", "120", "Longest that the session goes on, in seconds; at least three blocks."},
      {"sampling-time", "S", "1", "Longest that samples are taken in a round, in seconds."},
      {"timeout", "S", "600", "Time limit of a round, in seconds."},
      {"format", "NAME", "text", "text or json."},
      {"out", "DIR", "results/<UTC time>-ab", "Where the records of A, B and A again are kept."},
      {"overwrite", "", "", "Replace what is in --out."},
      {"quiet", "", "", "Print nothing while it measures."},
  };
  add_axis_options(options, Registry::instance(), AxisUse::one);
  add_input_options(options, Registry::instance());
  return {
      .name = "ab",
      .positional = "A B",
      .summary = "two variants or builds measured side by side until one is told from the other",
      .description =
          "Measures A and B in turns, each time in a fresh process, with A once more as a control, until it "
          "is told which is faster or that they are the same, or the budget is spent. A drift of the machine "
          "hits both sides alike, so a session tells smaller changes than a comparison of two runs. A and B "
          "are variants, with values of their parameters as in map/tiled[width=16], sources of your own as "
          "`mprof run --source` takes them, or other builds of mprof (the paths of two programs, with "
          "--variant). Exits with 1 when B is slower.",
      .options = std::move(options),
      .run = ab,
      .takes_sources = true};
}

}  // namespace mprof::cli
