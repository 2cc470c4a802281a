// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/trace/timeline.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

/// The Timeline section: traced cases above each other on one axis of time, and how much of their copies and
/// kernels overlapped.
namespace mprof {
namespace {

using nlohmann::json;

constexpr double seconds_per_ns = 1e-9;
constexpr std::size_t longest_name = 60;
/// A page shows this many pairs beside each other at the most; the table has them all.
constexpr std::size_t most_pairs = 4;
/// Blocks in the page, of all cases together: some 250 kB. One case keeps as many as `fewest_blocks`.
constexpr std::size_t blocks_of_page = 12000;
constexpr std::size_t fewest_blocks = 120;
constexpr std::size_t blocks_of_picture = 1000;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) * seconds_per_ns;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// A kind of block, as charts.js knows it and as the legend calls it.
struct Kind {
  std::string_view id;
  std::string_view name;
};

/// In the order of Activity.
constexpr std::array<Kind, activities> kinds{{
    {"group", "Group"},
    {"stage", "Stage of a group"},
    {"range", "NVTX range"},
    {"allocation", "Call: allocate, free"},
    {"copy_call", "Call: copy, set"},
    {"launch", "Call: launch"},
    {"wait", "Call: wait"},
    {"other_call", "Other call"},
    {"kernel", "Kernel"},
    {"copy_in", "Copy host to device"},
    {"copy_out", "Copy device to host"},
    {"copy_other", "Other copy"},
    {"memset", "Memset"},
    {"both", "Kernel and copy at once"},
}};

const Kind& kind_of(Activity activity) {
  return kinds.at(static_cast<std::size_t>(activity));
}

/// A case that the section can show.
struct Entry {
  const FamilyResult* family = nullptr;
  const VariantResult* variant = nullptr;
  const CaseResult* result = nullptr;
  trace::CaseIndex index = trace::no_case;
  Timeline timeline{};

  [[nodiscard]] const OverlapFigures& figures() const { return timeline.figures; }
  [[nodiscard]] std::string id() const { return format::short_id(result->configuration); }
  [[nodiscard]] std::string problem() const { return family->words.problem(result->key.problem); }
  [[nodiscard]] std::string title() const { return fmt::format("{}, {}", id(), problem()); }
  /// Several imports are compared with the first one, which nobody declared as their baseline.
  [[nodiscard]] bool is_imported() const { return variant->info.is_imported(); }
};

/// Two entries above each other, or one alone.
struct Pair {
  std::size_t shown = 0;
  std::optional<std::size_t> against;
};

class TimelineSection {
 public:
  TimelineSection(const RunAnalysis& analysis, const trace::Trace& profile)
      : traced_(trace::case_indices(profile)) {
    for (const FamilyResult& family : analysis.families) collect(family);
    std::vector<trace::CaseIndex> cases;
    for (const Entry& entry : entries_) cases.push_back(entry.index);
    const TimelineLimits limits;
    std::vector<Timeline> all = timelines(profile, cases, limits);
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].timeline = std::move(all[i]);
    std::erase_if(entries_, [](const Entry& entry) { return entry.timeline.lanes.empty(); });
    fit_page(limits.blocks);
    find_pairs();
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  /// Each variant at its largest traced problem, and its baseline at the same one.
  void collect(const FamilyResult& family) {
    for (const VariantResult& variant : family.variants) {
      const auto traced = largest_traced(variant, traced_);
      if (!traced) continue;
      add({&family, &variant, traced->result, traced->index});
      const auto baseline = traced_.find(traced->result->baseline);
      const CaseResult* result = family.find(traced->result->baseline);
      if (baseline == traced_.end() || result == nullptr) continue;
      if (const VariantResult* owner = family.find_variant(result->key.variant))
        add({&family, owner, result, baseline->second});
    }
  }

  /// The cases with the most blocks give way first.
  void fit_page(std::size_t blocks) {
    const auto sum = [&] {
      std::size_t all = 0;
      for (const Entry& entry : entries_) all += blocks_in(entry.timeline);
      return all;
    };
    while (blocks > fewest_blocks && sum() > blocks_of_page) {
      blocks = std::max(blocks / 2, fewest_blocks);
      for (Entry& entry : entries_) {
        if (blocks_in(entry.timeline) > blocks) shorten(entry.timeline, blocks);
      }
    }
  }

  void add(Entry entry) {
    if (!find(entry.result->id)) entries_.push_back(std::move(entry));
  }

  [[nodiscard]] std::optional<std::size_t> find(std::string_view id) const {
    const auto found =
        std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.result->id == id; });
    if (found == entries_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - entries_.begin());
  }

  /// With its baseline, even where the analysis compares no times: of a wrong output one can see what it did.
  [[nodiscard]] Pair pair_of(std::size_t place) const {
    const Entry& entry = entries_[place];
    if (const auto baseline = find(entry.result->baseline)) return {place, baseline};
    const auto found = std::ranges::find_if(entries_, [&](const Entry& other) {
      return other.variant->info.id == entry.variant->info.baseline &&
             other.result->key.problem == entry.result->key.problem;
    });
    if (found == entries_.end()) return {place, std::nullopt};
    return {place, static_cast<std::size_t>(found - entries_.begin())};
  }

  /// What uses several streams can overlap: what overlaps most comes first, and where something does, what
  /// does not is no example. Without such a variant, the fastest stands for all.
  void find_pairs() {
    std::vector<std::size_t> several;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].figures().streams > 1) several.push_back(i);
    }
    const auto overlap = [&](std::size_t i) { return entries_[i].figures().overlap().value_or(-1); };
    std::ranges::stable_sort(several, std::ranges::greater(), overlap);
    if (!several.empty() && overlap(several.front()) > 0)
      std::erase_if(several, [&](std::size_t i) { return overlap(i) <= 0; });
    for (const std::size_t i : several) pairs_.push_back(pair_of(i));
    // A baseline need not stand alone as well.
    std::set<std::size_t> below;
    for (const Pair& pair : pairs_) below.insert(pair.against.value_or(entries_.size()));
    std::erase_if(pairs_, [&](const Pair& pair) { return !pair.against && below.contains(pair.shown); });
    if (pairs_.size() > most_pairs) pairs_.resize(most_pairs);
    if (!pairs_.empty() || entries_.empty()) return;
    // The largest problem first, and there the fastest.
    const auto before = [&](std::size_t i, std::size_t j) {
      const CaseResult &a = *entries_[i].result, &b = *entries_[j].result;
      const auto time = [](const CaseResult& result) {
        return result.ok() && result.total_time ? std::optional(result.total_time->median) : std::nullopt;
      };
      const auto first = time(a), second = time(b);
      return std::tuple(!first, b.key.problem, first.value_or(0)) <
             std::tuple(!second, a.key.problem, second.value_or(0));
    };
    std::size_t fastest = 0;
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      if (before(i, fastest)) fastest = i;
    }
    pairs_.push_back(pair_of(fastest));
  }

  TracedCases traced_;
  std::vector<Entry> entries_;
  std::vector<Pair> pairs_;
};

// Words

std::string overlap_text(const OverlapFigures& figures) {
  if (const auto overlap = figures.overlap()) return format::percent(*overlap);
  return figures.kernel_count == 0 ? "no kernels" : "no copies";
}

/// "overlap 71.0 %", where there is something that could overlap.
std::string brief_text(const OverlapFigures& figures) {
  return (figures.overlap() ? "overlap " : "") + overlap_text(figures);
}

/// The line above a case's lanes.
std::string figures_text(const OverlapFigures& figures) {
  std::string text = brief_text(figures);
  if (figures.streams > 1) {
    text +=
        fmt::format(" · 2 or more streams busy {}", format::percent(ratio(figures.several, figures.window)));
  }
  return text + fmt::format(" · GPU busy {} of {}", format::percent(ratio(figures.busy(), figures.window)),
                            format::nanoseconds(figures.window));
}

std::string copies_text(const OverlapFigures& figures) {
  return figures.copy_count == 1 ? "1 copy" : format::count(figures.copy_count) + " copies";
}

std::string work_text(const OverlapFigures& figures) {
  return fmt::format("{} and {} in {}", format::plural(figures.kernel_count, "kernel"), copies_text(figures),
                     format::plural(figures.streams, "stream"));
}

/// "50 launches of kernels, and the trace has no kernel: what the GPU did is not known"
std::string unseen_text(const OverlapFigures& figures) {
  return fmt::format("{} launches of kernels, and the trace has no kernel: what the GPU did is not known",
                     format::count(figures.unseen_launches));
}

/// "43.7 % of the shorter of copy and kernel time overlapped"
std::string share_text(const OverlapFigures& figures) {
  const auto overlap = figures.overlap();
  if (figures.unseen_launches > 0) return unseen_text(figures);
  if (!overlap) return fmt::format("{}, so nothing could overlap", overlap_text(figures));
  return fmt::format("{} of the shorter of copy and kernel time overlapped", format::percent(*overlap));
}

std::string lead_text(const Entry& shown, const Entry* against) {
  std::string text = fmt::format("{}: {}", shown.title(), share_text(shown.figures()));
  if (against == nullptr) return text + ".";
  const auto before = against->figures().overlap();
  return text + fmt::format("; {}{}: {}.", shown.is_imported() ? "" : "its baseline ", against->id(),
                            before ? format::percent(*before) : overlap_text(against->figures()));
}

std::string own_text(const OverlapFigures& figures) {
  if (figures.unseen_launches > 0) return fmt::format("{}.", work_text(figures));
  std::string text = fmt::format("{}: kernels ran for {} and copies for {}", work_text(figures),
                                 format::nanoseconds(figures.kernels), format::nanoseconds(figures.copies));
  if (figures.both > 0) text += fmt::format(", both at once for {}", format::nanoseconds(figures.both));
  text += ".";
  if (figures.several > 0) {
    text +=
        fmt::format(" Two or more streams were busy at once for {}.", format::nanoseconds(figures.several));
  }
  return text + fmt::format(" The GPU was busy for {}.", format::nanoseconds(figures.busy()));
}

std::string less_text(std::int64_t before, std::int64_t after) {
  if (before == after) return "as long as before";
  return fmt::format("{} {}", format::nanoseconds(std::abs(before - after)),
                     after < before ? "less" : "more");
}

/// Nothing of a case whose output is wrong: that is no improvement.
std::string change_text(const Entry& shown, const Entry& against) {
  const OverlapFigures &before = against.figures(), &after = shown.figures();
  if (shown.result->status == Status::wrong) return " Its output is wrong, so its times are no result.";
  if (shown.result->status == Status::suspect) return " Its times are suspect, and no result.";
  if (!shown.result->ok() || !against.result->ok()) return {};
  return fmt::format(" Against {}, kernels ran for {} and the GPU only copied or set memory for {}.",
                     shown.is_imported() ? against.id() : "its baseline",
                     less_text(before.kernels, after.kernels),
                     less_text(before.copying_only, after.copying_only));
}

/// { lead, text }: each pair, and then each baseline of theirs once.
json sentences(const TimelineSection& section) {
  json list = json::array();
  std::set<std::size_t> shown_already, baselines;
  for (const Pair& pair : section.pairs()) {
    const Entry& shown = section.entries()[pair.shown];
    const Entry* against = pair.against ? &section.entries()[*pair.against] : nullptr;
    shown_already.insert(pair.shown);
    if (pair.against) baselines.insert(*pair.against);
    list.push_back({{"lead", lead_text(shown, against)},
                    {"text", own_text(shown.figures()) +
                                 (against == nullptr ? std::string() : change_text(shown, *against))}});
  }
  for (const std::size_t index : baselines) {
    if (shown_already.contains(index)) continue;
    const Entry& baseline = section.entries()[index];
    list.push_back({{"lead", lead_text(baseline, nullptr)}, {"text", own_text(baseline.figures())}});
  }
  return list;
}

// Charts

/// Blocks as charts.js unpacks them: `gap,length,name,count,bytes,busy` each, joined by `;`, without what is
/// 0 at the end (a count of 1 and a busy time like the length are written as 0). A gap is counted from the
/// end of the block before.
std::string packed(const std::vector<TimelineBlock>& blocks) {
  std::string text;
  std::int64_t before = 0;
  for (const TimelineBlock& block : blocks) {
    const std::array<std::int64_t, 6> fields{block.start - before,
                                             block.length,
                                             block.name,
                                             block.count == 1 ? 0 : static_cast<std::int64_t>(block.count),
                                             static_cast<std::int64_t>(block.bytes),
                                             block.busy == block.length ? 0 : block.busy};
    std::size_t last = fields.size();
    while (last > 2 && fields.at(last - 1) == 0) --last;
    if (!text.empty()) text += ';';
    text +=
        fmt::format("{}", fmt::join(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(last), ","));
    before = block.end();
  }
  return text;
}

std::string name_text(const std::string& name) {
  return format::elide(format::one_line(name), longest_name);
}

json lane_view(const TimelineLane& lane) {
  json strips = json::array();
  for (const TimelineStrip& strip : lane.strips)
    strips.push_back({{"kind", kind_of(strip.kind).id}, {"blocks", packed(strip.blocks)}});
  return {{"name", lane.name}, {"strips", std::move(strips)}};
}

std::string lanes_text(const Entry& entry) {
  return fmt::format("{}: {}; {}", entry.title(), work_text(entry.figures()), figures_text(entry.figures()));
}

json case_view(const Entry& entry, const Timeline& timeline) {
  json names = json::array(), lanes = json::array();
  for (const std::string& name : timeline.names) names.push_back(name_text(name));
  for (const TimelineLane& lane : timeline.lanes) lanes.push_back(lane_view(lane));
  return {{"title", entry.title()},
          {"figures", figures_text(entry.figures())},
          {"brief", brief_text(entry.figures())},
          {"alt", lanes_text(entry)},
          {"window", entry.figures().window},
          {"names", std::move(names)},
          {"lanes", std::move(lanes)}};
}

/// What the legend calls a kind, in the word of the cases' family where it has one.
std::string kind_name(std::size_t kind, const FamilyResult& family) {
  const std::string group = family.words.has_group() ? family.words.group() : "op";
  if (kinds.at(kind).id == "group") return format::sentence_case(group);
  if (kinds.at(kind).id == "stage") return "Stage of " + with_article(group);
  return std::string(kinds.at(kind).name);
}

/// The kinds that occur, for the legend.
json series_view(const std::vector<const Entry*>& entries) {
  std::array<bool, activities> there{};
  for (const Entry* entry : entries) {
    for (const TimelineLane& lane : entry->timeline.lanes) {
      for (const TimelineStrip& strip : lane.strips) there.at(static_cast<std::size_t>(strip.kind)) = true;
    }
  }
  json series = json::array();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (there.at(i))
      series.push_back({{"kind", kinds.at(i).id}, {"name", kind_name(i, *entries.front()->family)}});
  }
  return series;
}

std::string chart_title(const TimelineSection& section, const Pair& pair) {
  const std::string title = section.entries()[pair.shown].id();
  if (!pair.against) return title;
  return fmt::format("{} against {}", title, section.entries()[*pair.against].id());
}

std::string chart_caption(bool several) {
  return fmt::format(
      "{}A kernel fills the height of its stream's row, a copy to the device its upper half, a "
      "copy to the host its lower half.",
      several ? "Both on one axis of time, each from its own first activity. " : "");
}

json chart(const TimelineSection& section, const std::vector<const Entry*>& entries, const Pair& pair,
           const std::string& id, const std::string& caption) {
  json view = chart_view("timeline", id,
                         {chart_title(section, pair), caption, "Time from the first activity of each case"});
  view["cases"] = json::array();
  view["series"] = series_view(entries);
  std::string alt = section.entries()[pair.shown].title();
  if (pair.against) alt += ", and below it of " + section.entries()[*pair.against].title();
  view["alt"] = fmt::format("Timeline of {}. Its figures stand in the text.", alt);
  return view;
}

/// One pair, for a page that cannot change it. How to read it is said with the first.
json still_chart(const TimelineSection& section, const Pair& pair, bool is_first, PagePlan& plan) {
  std::vector<const Entry*> entries{&section.entries()[pair.shown]};
  if (pair.against) entries.push_back(&section.entries()[*pair.against]);
  json view = chart(section, entries, pair, plan.anchors.make("timeline " + entries[0]->title()),
                    is_first ? chart_caption(pair.against.has_value()) : "");
  view["shown"] = pair.against ? json::array({0, 1}) : json::array({0});
  view["live"] = false;
  for (const Entry* entry : entries) {
    Timeline timeline = entry->timeline;
    shorten(timeline, blocks_of_picture);
    view["cases"].push_back(case_view(*entry, timeline));
  }
  return plan.place(std::move(view), DrawnOn::paper);
}

/// All cases, of which a reader chooses two.
json live_chart(const TimelineSection& section, PagePlan& plan) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : section.entries()) entries.push_back(&entry);
  const Pair& first = section.pairs().front();
  json view = chart(section, entries, first, plan.anchors.make("timeline cases"),
                    chart_caption(first.against.has_value()));
  view["shown"] = first.against ? json::array({first.shown, *first.against}) : json::array({first.shown});
  view["live"] = true;
  for (const Entry* entry : entries) view["cases"].push_back(case_view(*entry, entry->timeline));
  return plan.place(std::move(view), DrawnOn::screen);
}

json choices(const TimelineSection& section) {
  const Pair& first = section.pairs().front();
  json list = json::array();
  for (std::size_t i = 0; i < section.entries().size(); ++i) {
    list.push_back({{"index", std::to_string(i)},
                    {"text", section.entries()[i].title()},
                    {"shown", i == first.shown},
                    {"against", first.against == i}});
  }
  return list;
}

// Table

Cell time_cell(std::int64_t ns) {
  Cell cell;
  cell.number = seconds(ns);
  return cell;
}

Cell kernels_cell(const OverlapFigures& figures) {
  return figures.unseen_launches > 0 ? Cell::missing(unseen_text(figures)) : time_cell(figures.kernels);
}

/// Of what the GPU did.
Cell share_cell(std::int64_t part, const OverlapFigures& figures) {
  if (figures.unseen_launches > 0) return Cell::missing(unseen_text(figures));
  const double share = ratio(part, figures.window);
  return Cell::figure(format::percent(share)).valued(share);
}

json table_view(const TimelineSection& section, Anchors& anchors) {
  Table table(anchors.make("timeline overlap"),
              "Overlap of copies and kernels, and what the GPU did, in each traced case");
  table.variants().text("Problem").numbers("Streams").numbers("Window", Unit::second);
  table.numbers("Kernels", Unit::second).numbers("Copies", Unit::second).numbers("Overlap");
  table.numbers("2 or more streams busy").numbers("Kernels running");
  table.numbers("Copying only").numbers("Idle");
  for (const Entry& entry : section.entries()) {
    const OverlapFigures& f = entry.figures();
    const auto overlap = f.overlap();
    table.row({Cell::words(entry.id()), Cell::words(entry.problem()),
               Cell::figure(format::count(f.streams)).valued(static_cast<double>(f.streams)),
               time_cell(f.window), kernels_cell(f), time_cell(f.copies),
               overlap ? Cell::figure(format::percent(*overlap)).valued(*overlap)
                       : Cell::missing(fmt::format("the trace has {}", overlap_text(f))),
               share_cell(f.several, f), share_cell(f.kernels, f), share_cell(f.copying_only, f),
               share_cell(f.window - f.busy(), f)});
  }
  return table.view();
}

}  // namespace

json timeline_view(const RunAnalysis& analysis, const Evidence& evidence, PagePlan& plan) {
  const auto without = [](const std::string& reason) {
    return json{{"absent", format::sentence_case(format::one_line(reason))}, {"charts", json::array()}};
  };
  if (!evidence.profile) return without(evidence.absent);
  const TimelineSection section(analysis, *evidence.profile);
  if (section.empty()) return without("the trace holds no activity of any case");
  json charts = json::array();
  for (const Pair& pair : section.pairs()) charts.push_back(still_chart(section, pair, charts.empty(), plan));
  return {{"absent", ""},
          {"sentences", sentences(section)},
          {"charts", std::move(charts)},
          {"live", live_chart(section, plan)},
          {"choices", choices(section)},
          {"table", table_view(section, plan.anchors)}};
}

}  // namespace mprof
