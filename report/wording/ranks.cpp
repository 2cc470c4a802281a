// SPDX-License-Identifier: MIT
#include "report/wording/ranks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "model/kernel_name.hpp"
#include "report/text/format.hpp"

namespace mprof {
namespace {

double part_of_step(const World& world, double ns) {
  return world.step > 0 ? ns / world.step : 0;
}

/// "3.4 % (0.5000 ms)"
std::string share_and_time(const World& world, double ns) {
  return fmt::format("{} ({})", format::percent(part_of_step(world, ns)), format::nanoseconds(ns));
}

std::string whole_sentence(const World& world) {
  std::set<std::string> hosts;
  for (const RankSummary& rank : world.ranks) hosts.insert(rank.host);
  std::string text = format::plural(world.ranks.size(), "rank");
  if (hosts.size() > 1) text += fmt::format(" on {}", format::plural(hosts.size(), "host"));
  if (world.steps == 0) return text + ": no step is in all traces.";
  bool repeats = false;
  for (std::size_t r = 0; r < world.ranks.size(); ++r)
    repeats = repeats || (!world.is_left_out[r] && !world.ranks[r].step.empty());
  if (!repeats)
    return fmt::format("{}: nothing repeats in the traces, so all of it is one step of {}.", text,
                       format::nanoseconds(world.step));
  return fmt::format("{}, {}: a step takes {} in the median.", text, format::plural(world.steps, "step"),
                     format::nanoseconds(world.step));
}

std::string exposed_sentence(const World& world) {
  const RankCell& all = world.all;
  if (world.meetings.all.empty())
    return "No collective was found in two traces: who waits for whom is not known.";
  const auto exposed = static_cast<double>(all.exposed);
  std::string text = fmt::format(
      "Communication runs for {} of a step, in the median over ranks. {} of a step ({}) is exposed: nothing "
      "hides it. {} is waiting for the last rank, {} is transfer, on the rank in the middle.",
      format::percent(part_of_step(world, static_cast<double>(all.communication))),
      format::percent(part_of_step(world, exposed)), format::nanoseconds(exposed),
      format::percent(part_of_step(world, static_cast<double>(all.waiting))),
      format::percent(part_of_step(world, static_cast<double>(all.exposed - all.waiting))));
  // The rank that waits the least still needs this long.
  double without = 0;
  for (const UsualRank& usual : world.usual)
    without = std::max(without, static_cast<double>(usual.cell.length - usual.cell.exposed));
  constexpr double worth = 1.01;
  if (without > 0 && world.step / without >= worth)
    text +=
        fmt::format(" Hiding all of it would make a step {} as fast.", format::up_to(world.step / without));
  return text;
}

std::string late_sentence(const World& world, const LateRank& late) {
  std::string text = fmt::format(
      "Rank {} is late: it came last in {} of the {} collectives in which ranks waited for one. "
      "That costs {} of a step on average",
      format::one_line(world.label(late.rank)), format::count(late.last), format::count(late.of),
      share_and_time(world, late.cost));
  text += late.since ? fmt::format(", most of it since step {}.", *late.since) : ".";
  return text + " " + format::sentence_case(late_cause(late.cause)) + ".";
}

std::vector<std::string> late_sentences(const World& world) {
  constexpr double noticeable = 0.005;
  std::vector<std::string> sentences;
  for (const LateRank& late : world.late) {
    if (sentences.size() == told_late_ranks) {
      sentences.push_back(fmt::format("{} more are late.", world.late.size() - told_late_ranks));
      break;
    }
    sentences.push_back(late_sentence(world, late));
  }
  if (!sentences.empty() || world.meetings.all.empty()) return sentences;
  if (part_of_step(world, world.waiting_cost) < noticeable) return {"No rank waits long for another."};
  return {fmt::format(
      "No rank is late more often than chance explains. Waiting for whichever comes last costs {} "
      "of a step on average.",
      share_and_time(world, world.waiting_cost))};
}

/// "4 communicators of 2 neighbouring ranks"
std::string groups_of_use(const World& world, const GroupUse& use, std::uint32_t size, std::size_t count) {
  const std::string groups = count == 1 ? "one communicator" : fmt::format("{} communicators", count);
  std::size_t all = world.ranks.size();
  for (const RankSummary& rank : world.ranks) all = std::max<std::size_t>(all, rank.world_size.value_or(0));
  if (size >= all) return fmt::format("{} of all {} ranks", groups, size);
  if (use.stride == 1) return fmt::format("{} of {} neighbouring ranks", groups, size);
  if (use.stride > 1) return fmt::format("{} of {} ranks that are {} apart", groups, size, use.stride);
  return fmt::format("{} of {} ranks", groups, size);
}

/// What a use was told by, for one communicator.
std::string evidence_of(const GroupUse& use) {
  const bool is_whole = use.per_step == std::floor(use.per_step);
  std::string text =
      fmt::format(" with {} {}",
                  is_whole ? format::count(static_cast<std::uint64_t>(use.per_step))
                           : format::significant(use.per_step, 3),
                  use.gathers > 0 ? "AllGather and ReduceScatter" : trace::to_string(use.kind));
  constexpr double nearly_all = 0.9;
  if (use.bytes > 0 && use.gathers == 0 && use.of_usual_size >= nearly_all)
    text += fmt::format(" of {}", format::quantity(static_cast<double>(use.bytes), Unit::byte));
  text += " a step";
  if (use.parallelism == Parallelism::data) text += ", none early in it";
  if (use.parallelism == Parallelism::tensor && use.gathers == 0) text += ", spread over it";
  if (use.parallelism == Parallelism::expert) text += ", with other sizes on each rank";
  return text;
}

std::string_view title_of(Parallelism parallelism) {
  switch (parallelism) {
    case Parallelism::data:
      return "Data parallelism";
    case Parallelism::sharded_data:
      return "Sharded data parallelism";
    case Parallelism::tensor:
      return "Tensor parallelism";
    case Parallelism::pipeline:
      return "Pipeline parallelism";
    case Parallelism::expert:
      return "Expert parallelism";
    case Parallelism::unknown:
      break;
  }
  return "";
}

std::vector<std::string> parallelism_sentences(const World& world) {
  struct Class {
    const GroupUse* first = nullptr;
    std::size_t count = 0;
    bool is_alike = true;
  };
  std::map<std::tuple<Parallelism, std::uint32_t, std::uint32_t>, Class> classes;  // by size and stride
  for (std::size_t g = 0; g < world.uses.size(); ++g) {
    const GroupUse& use = world.uses[g];
    if (use.parallelism == Parallelism::unknown) continue;
    Class& of = classes[{use.parallelism, world.meetings.groups[g].size, use.stride}];
    if (of.first == nullptr) of.first = &use;
    ++of.count;
    constexpr double same = 0.01;
    of.is_alike = of.is_alike && use.bytes == of.first->bytes &&
                  std::abs(use.per_step - of.first->per_step) <= same * of.first->per_step;
  }
  std::vector<std::string> sentences;
  for (const auto& [key, of] : classes)
    sentences.push_back(fmt::format("{}: {},{}{}.", title_of(std::get<0>(key)),
                                    groups_of_use(world, *of.first, std::get<1>(key), of.count),
                                    of.count == 1 ? ""
                                    : of.is_alike ? " each"
                                                  : " the first of them",
                                    evidence_of(*of.first)));
  return sentences;
}

std::string rate_sentence(const World& world) {
  constexpr std::uint64_t least = 1 << 20;  // B; what is smaller tells of latency
  for (const LinkRate& rate : world.rates) {
    if (!rate.rate || rate.is_small || rate.bytes < least) continue;
    return fmt::format("{} takes {} without waiting: {} on the bus, at best {}.", rate_name(rate),
                       format::nanoseconds(rate.transfer),
                       format::quantity(*rate.rate, Unit::byte_per_second),
                       format::quantity(*rate.best, Unit::byte_per_second));
  }
  return "";
}

std::string path_sentence(const World& world) {
  constexpr double noticeable = 0.001;
  constexpr std::array<std::string_view, rank_activities> names{"computing", "transfers", "copies",
                                                                "idle time"};
  std::vector<std::string> parts;
  for (std::size_t what = 0; what < rank_activities; ++what) {
    if (world.path.parts.at(what) >= noticeable)
      parts.push_back(fmt::format("{} {}", names.at(what), format::percent(world.path.parts.at(what))));
  }
  if (parts.empty()) return "";
  return fmt::format("The critical path over all ranks consists of {}.", format::list(parts));
}

std::string left_out_doubt(const World& world) {
  constexpr std::size_t most = 8;
  std::vector<std::string> ranks;
  std::size_t all = 0;
  for (std::size_t r = 0; r < world.ranks.size(); ++r) {
    if (!world.is_left_out[r]) continue;
    if (++all <= most) ranks.push_back(format::one_line(world.label(r)));
  }
  if (all == 0) return "";
  if (all > most) ranks.push_back(fmt::format("{} more", all - most));
  return fmt::format("{} {} left out of all steps: {} fewer than half as many steps as the median trace.",
                     all == 1 ? "Rank" : "Ranks", format::list(ranks) + (all == 1 ? " is" : " are"),
                     all == 1 ? "its trace has" : "their traces have");
}

std::string clock_sentence(const World& world) {
  const RankClocks& clocks = world.clocks;
  if (clocks.size() < 2 || clocks.rare_distance() <= 0) return "";
  constexpr double ppm = 1e6, noticeable = 0.05;
  std::string text = fmt::format(
      "The clocks of the traces were laid on each other by the ends of collectives; 95 of 100 ends lie "
      "within {}.",
      format::nanoseconds(clocks.rare_distance()));
  const double drift = ppm * clocks.largest_drift();
  if (drift >= noticeable)
    text += fmt::format(" The largest drift was {} ppm.", format::significant(drift, 2));
  return text;
}

}  // namespace

std::vector<std::string> rank_sentences(const World& world) {
  std::vector<std::string> sentences{whole_sentence(world)};
  if (world.steps == 0) return sentences;
  sentences.push_back(exposed_sentence(world));
  for (std::string& sentence : late_sentences(world)) sentences.push_back(std::move(sentence));
  for (std::string& sentence : parallelism_sentences(world)) sentences.push_back(std::move(sentence));
  for (std::string sentence : {rate_sentence(world), path_sentence(world), clock_sentence(world)}) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  return sentences;
}

std::vector<std::string> rank_doubts(const World& world) {
  std::vector<std::string> doubts;
  const std::string left_out = left_out_doubt(world);
  if (!left_out.empty()) doubts.push_back(left_out);
  std::size_t lacking = 0;
  for (const RankGroup& group : world.meetings.groups) lacking += group.size > group.ranks.size() ? 1 : 0;
  if (lacking > 0)
    doubts.push_back(
        fmt::format("In {} some ranks have no trace here: who came last may be one of them.",
                    lacking == 1 ? "one communicator" : fmt::format("{} communicators", lacking)));
  std::uint32_t size = 0;
  for (const RankSummary& rank : world.ranks) size = std::max(size, rank.world_size.value_or(0));
  if (size > world.ranks.size())
    doubts.push_back(
        fmt::format("The program had {} ranks, and {} of them are here.", size, world.ranks.size()));
  if (world.clocks.parts() > 1)
    doubts.push_back(
        fmt::format("The ranks fall into {} parts that share no collectives: their steps were matched by "
                    "their order alone.",
                    world.clocks.parts()));
  if (world.meetings.single > 0)
    doubts.push_back(fmt::format("Of {} no other rank's part was found.",
                                 format::plural(world.meetings.single, "collective")));
  if (world.meetings.unmatched_messages > 0)
    doubts.push_back(
        fmt::format("{} Send/Recv are not matched: who waits for whom in a pipeline is not told.",
                    format::count(world.meetings.unmatched_messages)));
  const auto is_unnamed = [](const RankGroup& group) { return group.name.empty(); };
  if (!world.meetings.all.empty() && std::ranges::any_of(world.meetings.groups, is_unnamed))
    doubts.emplace_back("The files do not name communicators: mprof told them apart by streams and times.");
  return doubts;
}

namespace {

std::string_view host_activity(BudgetPart part, bool has_example) {
  switch (part) {
    case BudgetPart::idle_tracing:
      return "recording the trace holds its host";
    case BudgetPart::idle_waiting:
      return "its host is in a call that waits for the GPU";
    case BudgetPart::idle_allocation:
      return "its host allocates or frees memory";
    case BudgetPart::idle_calls:
      return "its host is in other calls of CUDA, launches most of all";
    case BudgetPart::idle_system:
      return "its host is in the operating system: files, sleeping, locks";
    default:
      return has_example ? "its host runs code of its own, such as a data loader"
                         : "its host runs code of its own";
  }
}

/// Where the host is, after what it does.
std::string place_of(const LateCause& cause) {
  if (cause.place.empty()) return "";
  const std::string place = format::one_line(format::elide(cause.place, 80));
  return cause.place_is_line ? fmt::format(", in {}", place) : fmt::format(", in the range {}", place);
}

}  // namespace

std::string late_cause(const LateCause& cause) {
  using What = LateCause::What;
  switch (cause.what) {
    case What::unknown:
      return "its own trace does not show why";
    case What::all_kernels:
      return fmt::format("its kernels take {} as long as on the other ranks, all of them alike: {}",
                         format::times(cause.factor),
                         cause.sm_clock > 0
                             ? fmt::format("its GPU ran at {}, the others at {}",
                                           format::quantity(cause.sm_clock, Unit::hertz),
                                           format::quantity(cause.usual_sm_clock, Unit::hertz))
                             : "look at its GPU's clock, its power limit, and other processes on it");
    case What::some_launches:
      return fmt::format(
          "some launches of its kernels take far longer than others of the same kernels, in all {} a step: "
          "look for another process that takes turns on its GPU",
          format::nanoseconds(cause.more));
    case What::some_kernel:
      return fmt::format("its kernel {} takes {} as long as on the other ranks",
                         format::one_line(kernel_name_of_demangled(cause.kernel).brief),
                         format::times(cause.factor));
    case What::more_kernels:
      return fmt::format("it launches {} as many kernels as the other ranks: its share of the work is larger",
                         format::times(cause.factor));
    case What::copies:
      return fmt::format("it copies for {} a step longer than the other ranks",
                         format::nanoseconds(cause.more));
    case What::idle:
      break;
  }
  return fmt::format("its GPU is idle for {} a step longer than the others', while {}{}",
                     format::nanoseconds(cause.more), host_activity(cause.part, cause.place.empty()),
                     place_of(cause));
}

std::string rate_name(const LinkRate& rate) {
  std::string name(trace::to_string(rate.kind));
  if (rate.bytes > 0)
    name += fmt::format(" of {}", format::quantity(static_cast<double>(rate.bytes), Unit::byte));
  return name;
}

}  // namespace mprof
