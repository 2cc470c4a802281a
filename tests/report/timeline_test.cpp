#include "report/trace/timeline.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/page/charts.hpp"
#include "report/views/views.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using trace::CaseIndex;
using trace::Interval;
using trace::Queue;

/// Writes a profile by hand.
struct Fabricated {
  trace::Profile profile{};

  CaseIndex add_case(const std::string& id) {
    profile.cases.push_back({id, {}});
    return static_cast<CaseIndex>(profile.cases.size() - 1);
  }
  trace::NameIndex name(const std::string& text) {
    const auto found = std::ranges::find(profile.names, text);
    if (found != profile.names.end()) return static_cast<trace::NameIndex>(found - profile.names.begin());
    profile.names.push_back(text);
    return static_cast<trace::NameIndex>(profile.names.size() - 1);
  }
  void kernel(std::int64_t stream, Interval time, CaseIndex in_case = 0, const std::string& text = "scale") {
    profile.kernels.push_back(
        {.time = time, .name = name(text), .in_case = in_case, .queue = Queue{0, 1, stream}});
  }
  void transfer(std::int64_t stream, Interval time, const std::string& operation, std::uint64_t bytes = 1000,
                CaseIndex in_case = 0) {
    profile.transfers.push_back({.time = time,
                                 .bytes = bytes,
                                 .operation = name(operation),
                                 .source = name("Pageable"),
                                 .destination = name("Device"),
                                 .in_case = in_case,
                                 .queue = Queue{0, 1, stream}});
  }
  void call(const std::string& text, Interval time, trace::Api api = trace::Api::runtime) {
    profile.calls.push_back({.time = time, .thread = 1, .name = name(text), .in_case = 0, .api = api});
  }
  void range(const std::string& text, Interval time) {
    profile.ranges.push_back({.time = time, .thread = 1, .name = name(text), .in_case = 0});
  }
  [[nodiscard]] Timeline timeline(const TimelineLimits& limits = {}) const {
    const CaseIndex first = 0;
    return timelines(profile, {&first, 1}, limits).at(0);
  }
};

constexpr const char* to_device = "[CUDA memcpy Host-to-Device]";
constexpr const char* to_host = "[CUDA memcpy Device-to-Host]";
constexpr const char* memset = "[CUDA memset]";

const TimelineLane* find_lane(const Timeline& timeline, std::string_view name) {
  const auto found = std::ranges::find(timeline.lanes, name, &TimelineLane::name);
  return found == timeline.lanes.end() ? nullptr : &*found;
}

const std::vector<TimelineBlock>& blocks_of(const Timeline& timeline, std::string_view lane, Activity kind) {
  static const std::vector<TimelineBlock> none;
  const TimelineLane* found = find_lane(timeline, lane);
  if (found == nullptr) return none;
  const auto strip = std::ranges::find(found->strips, kind, &TimelineStrip::kind);
  return strip == found->strips.end() ? none : strip->blocks;
}

TEST(Overlap, IsWhatRunsAtOnceOverTheShorterOfBoth) {
  Fabricated made;
  made.add_case("a");
  made.kernel(1, {1000, 1100});
  made.kernel(1, {1200, 1300});
  made.kernel(4, {1250, 1300});  // beside another kernel: no moment counts twice
  made.transfer(2, {1050, 1150}, to_device);
  made.transfer(3, {1250, 1260}, to_host);
  made.transfer(3, {1400, 1450}, memset);
  made.range("mprof:a", {900, 1500});
  const OverlapFigures figures = made.timeline().figures;
  EXPECT_EQ(figures.window, 600);
  EXPECT_EQ(figures.kernels, 200);
  EXPECT_EQ(figures.copies, 110);
  EXPECT_EQ(figures.both, 50 + 10);
  EXPECT_DOUBLE_EQ(*figures.overlap(), 60.0 / 110);
  EXPECT_EQ(figures.copying_only, 50 + 50) << "a memset is work and no copy";
  EXPECT_EQ(figures.busy(), 300);
  EXPECT_EQ(figures.several, 50 + 50);
  EXPECT_EQ(figures.streams, 4U);
  EXPECT_EQ(figures.kernel_count, 3U);
  EXPECT_EQ(figures.copy_count, 2U);
}

TEST(Overlap, IsAllWhenTheShorterIsHidden) {
  Fabricated made;
  made.add_case("a");
  made.kernel(1, {0, 10});
  made.transfer(2, {0, 100}, to_device);
  EXPECT_EQ(made.timeline().figures.overlap(), 1.0);
}

TEST(Overlap, IsNothingOnOneStream) {
  Fabricated made;
  made.add_case("a");
  made.transfer(7, {0, 100}, to_device);
  made.kernel(7, {100, 200});
  made.transfer(7, {200, 300}, to_host);
  const Timeline timeline = made.timeline();
  EXPECT_EQ(timeline.figures.overlap(), 0.0);
  EXPECT_EQ(timeline.figures.several, 0);
  ASSERT_NE(find_lane(timeline, "Overlap"), nullptr) << "an empty lane says so";
  EXPECT_TRUE(find_lane(timeline, "Overlap")->strips.empty());
}

TEST(Overlap, IsUnknownWithoutCopiesOrKernels) {
  Fabricated made;
  made.add_case("a");
  made.kernel(1, {0, 100});
  made.transfer(2, {0, 100}, memset);
  EXPECT_FALSE(made.timeline().figures.overlap());
  EXPECT_EQ(find_lane(made.timeline(), "Overlap"), nullptr);
}

TEST(Timeline, OfACaseWithoutRecordsIsEmpty) {
  Fabricated made;
  made.add_case("a");
  const Timeline timeline = made.timeline();
  EXPECT_TRUE(timeline.lanes.empty());
  EXPECT_EQ(timeline.figures.window, 0);
  EXPECT_FALSE(timeline.figures.overlap());
}

TEST(Timeline, OfOneRecordIsOneBlock) {
  Fabricated made;
  made.add_case("a");
  made.kernel(7, {5000, 5200});
  const Timeline timeline = made.timeline();
  ASSERT_EQ(timeline.lanes.size(), 1U);
  EXPECT_EQ(timeline.lanes[0].name, "stream 7");
  const auto& blocks = blocks_of(timeline, "stream 7", Activity::kernel);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0], (TimelineBlock{.start = 0, .length = 200, .busy = 200, .name = blocks[0].name}));
  EXPECT_EQ(timeline.names.at(blocks[0].name), "scale");
}

TEST(Timeline, HasALaneForEachStreamAndOneForWhatTheHostDoes) {
  Fabricated made;
  made.add_case("conv/x@100");
  made.range("mprof:conv/x@100", {0, 1000});
  made.range("mprof:layer1", {10, 900});
  made.range("mprof:prepare", {10, 300});
  made.range(":of the user", {20, 200});
  made.range(":within it", {30, 40});
  made.call("cudaMalloc", {20, 60});
  made.call("cudaLaunchKernel", {300, 320});
  made.call("cuLaunchKernel", {305, 315}, trace::Api::driver);
  made.call("cudaStreamSynchronize", {330, 700});
  made.kernel(21, {310, 500});
  made.transfer(8, {70, 290}, to_device, 1 << 20);
  const Timeline timeline = made.timeline();
  std::vector<std::string> lanes;
  for (const TimelineLane& lane : timeline.lanes) lanes.push_back(lane.name);
  EXPECT_EQ(lanes, (std::vector<std::string>{"Layers", "NVTX ranges", "API calls", "stream 8", "stream 21",
                                             "Overlap"}));
  const auto& layers = blocks_of(timeline, "Layers", Activity::layer);
  ASSERT_EQ(layers.size(), 1U) << "the range around the whole case is no layer";
  EXPECT_EQ(timeline.names.at(layers[0].name), "layer1");
  EXPECT_EQ(blocks_of(timeline, "Layers", Activity::stage).size(), 1U);
  const auto& ranges = blocks_of(timeline, "NVTX ranges", Activity::range);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(timeline.names.at(ranges[0].name), "of the user");
  EXPECT_EQ(blocks_of(timeline, "API calls", Activity::allocation).size(), 1U);
  EXPECT_EQ(blocks_of(timeline, "API calls", Activity::launch).size(), 1U)
      << "a driver call is part of the runtime call around it";
  EXPECT_EQ(blocks_of(timeline, "API calls", Activity::wait).size(), 1U);
  const auto& copies = blocks_of(timeline, "stream 8", Activity::copy_in);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].bytes, 1U << 20);
  EXPECT_EQ(timeline.names.at(copies[0].name), "Host-to-Device copy (Pageable to Device)");
}

TEST(Timeline, KeepsCasesApart) {
  Fabricated made;
  made.add_case("a");
  made.add_case("b");
  made.kernel(1, {0, 10}, 0);
  made.kernel(1, {100, 140}, 1);
  made.transfer(2, {100, 140}, to_host, 1, 1);
  const std::vector<CaseIndex> both{1, 0};
  const std::vector<Timeline> all = timelines(made.profile, both);
  EXPECT_EQ(all.at(0).figures.kernels, 40);
  EXPECT_EQ(all.at(0).figures.overlap(), 1.0);
  EXPECT_EQ(all.at(1).figures.kernels, 10);
  EXPECT_EQ(all.at(1).figures.copy_count, 0U);
}

TEST(Timeline, NamesTheDeviceWhereThereAreSeveral) {
  Fabricated made;
  made.add_case("a");
  made.kernel(7, {0, 10});
  made.kernel(7, {0, 10});
  made.profile.kernels.back().queue.device = 1;
  const Timeline timeline = made.timeline();
  EXPECT_NE(find_lane(timeline, "GPU 0, stream 7"), nullptr);
  EXPECT_NE(find_lane(timeline, "GPU 1, stream 7"), nullptr);
}

TEST(Timeline, GivesLanesToTheStreamsWithTheMostWork) {
  Fabricated made;
  made.add_case("a");
  for (std::int64_t stream = 1; stream <= 40; ++stream) made.kernel(stream, {0, 1000 + stream});
  const Timeline timeline = made.timeline({.streams = 3});
  ASSERT_EQ(timeline.lanes.size(), 4U);
  EXPECT_EQ(timeline.lanes[0].name, "stream 38");
  EXPECT_EQ(timeline.lanes[2].name, "stream 40");
  EXPECT_EQ(timeline.lanes[3].name, "37 other streams");
  EXPECT_EQ(timeline.figures.streams, 40U);
}

TEST(Merging, JoinsShortNeighboursAlone) {
  const std::vector<TimelineBlock> blocks{{0, 5, 5, 1, 10, 1},   {7, 3, 3, 1, 20, 1}, {12, 8, 8, 1, 0, 2},
                                          {20, 50, 50, 1, 0, 1}, {71, 2, 2, 1, 0, 1}, {90, 2, 2, 1, 0, 1}};
  const std::vector<TimelineBlock> result = merged(blocks, 10);
  ASSERT_EQ(result.size(), 4U);
  EXPECT_EQ(result[0], (TimelineBlock{0, 20, 16, 3, 30, 0})) << "of several names none stays";
  EXPECT_EQ(result[1], blocks[3]);
  EXPECT_EQ(result[2], blocks[4]);
  EXPECT_EQ(result[3], blocks[5]) << "too far away";
  EXPECT_EQ(merged(blocks, 0), blocks);
  EXPECT_EQ(merged({{0, 5, 5, 1, 0, 1}, {6, 1, 1, 1, 0, 1}}, 10).at(0).name, 1U);
}

TEST(Merging, CountsAMomentOnce) {
  const std::vector<TimelineBlock> result =
      merged({{0, 8, 8, 1, 0, 1}, {2, 2, 2, 1, 0, 1}, {6, 4, 4, 1, 0, 1}}, 10);
  EXPECT_EQ(result, (std::vector<TimelineBlock>{{0, 10, 10, 3, 0, 1}}));
}

TEST(Merging, LeavesNoMoreBlocksThanThereIsRoomFor) {
  constexpr std::size_t kernels = 200'000;
  Fabricated made;
  made.add_case("a");
  std::int64_t time = 0, total = 0;
  for (std::size_t i = 0; i < kernels; ++i) {
    const auto length = static_cast<std::int64_t>(100 + i * 37 % 900);
    made.kernel(static_cast<std::int64_t>(1 + i % 4), {time, time + length});
    total += length;
    time += length + static_cast<std::int64_t>(i % 1000 == 0 ? 1'000'000 : 50);
  }
  const Timeline timeline = made.timeline();
  EXPECT_LE(blocks_in(timeline), TimelineLimits{}.blocks);
  EXPECT_GT(blocks_in(timeline), 100U) << "gaps are kept as long as there is room";
  EXPECT_EQ(timeline.figures.kernels, total) << "figures are those of the trace";
  std::uint64_t count = 0;
  std::int64_t busy = 0;
  for (const TimelineLane& lane : timeline.lanes) {
    for (const TimelineBlock& block : lane.strips.at(0).blocks) {
      count += block.count;
      busy += block.busy;
    }
  }
  EXPECT_EQ(count, kernels);
  EXPECT_EQ(busy, total);
}

TEST(Merging, EndsWhereNothingMoreCanBeJoined) {
  Fabricated made;
  made.add_case("a");
  for (std::int64_t stream = 1; stream <= 8; ++stream) made.kernel(stream, {0, 1000});
  Timeline timeline = made.timeline({.blocks = 2});
  EXPECT_EQ(blocks_in(timeline), 8U) << "one for each strip";
}

// The section

/// With spaces that break, for the sake of whoever reads a test.
std::string plain(std::string text) {
  constexpr std::string_view no_break = "\u00a0";
  for (std::size_t at = text.find(no_break); at != text.npos; at = text.find(no_break, at))
    text.replace(at, no_break.size(), " ");
  return text;
}

class TimelineView : public ::testing::Test {
 protected:
  nlohmann::json view_of(const mprof::Run& run, Evidence evidence) {
    analysis_ = analyse(run);
    Anchors anchors;
    return timeline_view(analysis_, evidence, anchors);
  }
  /// Of the GPU run: copies beside kernels on two streams against one after the other on one.
  static Evidence gpu_evidence(const mprof::Run& run) {
    Fabricated made;
    for (const Case& c : run.cases) made.add_case(c.id);
    made.transfer(7, {0, 1'000'000}, to_device, 4096, 0);
    made.kernel(7, {1'000'000, 3'000'000}, 0);
    made.transfer(21, {5'000'000, 6'000'000}, to_device, 4096, 1);
    made.kernel(22, {5'500'000, 7'500'000}, 1);
    return {std::move(made.profile), ""};
  }

  RunAnalysis analysis_;
};

TEST_F(TimelineView, SaysWhyThereIsNone) {
  const nlohmann::json view = view_of(samples::healthy(), {std::nullopt, "the run has\nno <trace>"});
  EXPECT_EQ(view["absent"], "The run has no <trace>");
  EXPECT_TRUE(view["charts"].empty());
  EXPECT_FALSE(view.contains("live"));
}

TEST_F(TimelineView, SaysSoWhenTheTraceIsEmpty) {
  const mprof::Run run = samples::gpu();
  Fabricated made;
  made.add_case(run.cases[0].id);
  EXPECT_EQ(view_of(run, {made.profile, ""})["absent"], "The trace holds no activity of any case");
}

TEST_F(TimelineView, PutsWhatUsesSeveralStreamsAboveItsBaseline) {
  const mprof::Run run = samples::gpu();
  const nlohmann::json view = view_of(run, gpu_evidence(run));
  EXPECT_EQ(view["absent"], "");
  ASSERT_EQ(view["charts"].size(), 1U);
  const nlohmann::json& chart = view["charts"][0];
  EXPECT_EQ(chart["title"], "conv/streams against conv/baseline");
  EXPECT_EQ(plain(chart["cases"][0]["figures"]),
            "overlap 50.0 % · 2 or more streams busy 20.0 % · GPU busy 100.0 % of 2.500 ms");
  EXPECT_EQ(plain(chart["cases"][1]["figures"]), "overlap 0.0 % · GPU busy 100.0 % of 3.000 ms");
  EXPECT_EQ(
      plain(view["sentences"][0]["lead"]),
      "conv/streams, batch 10000: 50.0 % of the shorter of copy and kernel time overlapped; its baseline "
      "conv/baseline: 0.0 %.");
  EXPECT_EQ(plain(view["sentences"][0]["text"]),
            "1 kernel and 1 copy in 2 streams: kernels ran for 2.000 ms and copies for 1.000 ms, both "
            "at once for 500.0 µs. Two or more streams were busy at once for 500.0 µs, 20.0 % of the "
            "window. The GPU was busy for 100.0 % of the window of 2.500 ms and idle for 0 ns. Its "
            "window is 500.0 µs shorter than the baseline's: kernels ran for as long as before, the GPU "
            "only copied or set memory for 500.0 µs less, and it was idle for as long as before.");
  EXPECT_EQ(chart["cases"][0]["lanes"][1]["strips"][0]["blocks"], "500000,2000000,1");
  EXPECT_EQ(view["live"]["shown"], nlohmann::json::array({1, 0}));
  EXPECT_EQ(view["choices"].size(), 2U) << "a case without a record is none to choose";
}

TEST_F(TimelineView, TakesTheFastestWhereAllUseOneStream) {
  const mprof::Run run = samples::healthy();
  Fabricated made;
  for (const Case& c : run.cases) {
    const CaseIndex index = made.add_case(c.id);
    made.kernel(7, {100, 200}, index);
  }
  const nlohmann::json view = view_of(run, {made.profile, ""});
  const Best* fastest = nullptr;
  for (const Best& best : analysis_.families.at(0).best) {
    if (best.op.empty()) fastest = &best;  // the last one is of the largest batch
  }
  ASSERT_NE(fastest, nullptr);
  ASSERT_EQ(view["charts"].size(), 1U);
  const std::string title = view["charts"][0]["title"];
  EXPECT_TRUE(title.starts_with(fastest->fastest->configuration)) << title;
  EXPECT_NE(view["sentences"][0]["lead"].get<std::string>().find("no copies, so nothing could overlap"),
            std::string::npos);
}

TEST_F(TimelineView, CallsNoWrongOutputAnImprovement) {
  mprof::Run run = samples::gpu();
  samples::timing(run.cases[1]).status = Status::wrong;
  const std::string text = view_of(run, gpu_evidence(run))["sentences"][0]["text"];
  EXPECT_EQ(text.find("Its window is"), std::string::npos);
  EXPECT_NE(text.find("Its output is wrong"), std::string::npos) << text;
}

TEST_F(TimelineView, StaysSmallHoweverLongTheTrace) {
  const mprof::Run run = samples::large(18);
  Fabricated made;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const CaseIndex index = made.add_case(run.cases[i].id);
    if (run.cases[i].key.batch != 10000) continue;
    for (std::int64_t k = 0; k < 4000; ++k) {
      const std::int64_t start = 1'700'000'000'000'000'000 + 1'000'003 * k;
      made.kernel(7 + k % 3, {start, start + 700'001}, index);
      made.transfer(12, {start + 600'001, start + 900'001}, k % 2 == 0 ? to_device : to_host, 26'214'400,
                    index);
    }
  }
  const nlohmann::json view = view_of(run, {made.profile, ""});
  EXPECT_EQ(view["live"]["cases"].size(), 18U);
  EXPECT_LT(view["live"].dump().size(), 300'000U);
}

TEST_F(TimelineView, IsDrawnWithNamesThatAreText) {
  const std::string attack = "<script>x</script>" + std::string(2000, 'n');
  const mprof::Run run = samples::gpu();
  Evidence evidence = gpu_evidence(run);
  for (std::string& name : evidence.profile->names) {
    if (name == "scale") name = attack;
  }
  const nlohmann::json chart = view_of(run, evidence)["charts"][0];
  EXPECT_LT(chart["cases"][0]["names"][1].get<std::string>().size(), 100U);
  const std::string svg = plain(ChartRenderer(Templates(std::filesystem::path())).svg(chart));
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_NE(svg.find("conv/streams, batch 10000"), std::string::npos);
  EXPECT_NE(svg.find("overlap 50.0 %"), std::string::npos);
  EXPECT_NE(svg.find("4.096"), std::string::npos) << "a copy says how much it copied";
}

}  // namespace
}  // namespace mprof
