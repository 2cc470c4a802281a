// SPDX-License-Identifier: MIT
#include "report/trace/timeline.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/report/fabricated_trace.hpp"

namespace mprof {
namespace {

using test::FabricatedTrace;
using test::memory_set;
using test::to_device;
using test::to_host;
using trace::CaseIndex;

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
  FabricatedTrace made;
  made.add_case("a");
  made.kernel(1, {1000, 1100});
  made.kernel(1, {1200, 1300});
  made.kernel(4, {1250, 1300});  // beside another kernel: no moment counts twice
  made.transfer(2, {1050, 1150}, to_device);
  made.transfer(3, {1250, 1260}, to_host);
  made.transfer(3, {1400, 1450}, memory_set);
  made.range("mprof", "a", {900, 1500});
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
  FabricatedTrace made;
  made.add_case("a");
  made.kernel(1, {0, 10});
  made.transfer(2, {0, 100}, to_device);
  EXPECT_EQ(made.timeline().figures.overlap(), 1.0);
}

TEST(Overlap, IsNothingOnOneStream) {
  FabricatedTrace made;
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
  FabricatedTrace made;
  made.add_case("a");
  made.kernel(1, {0, 100});
  made.transfer(2, {0, 100}, memory_set);
  EXPECT_FALSE(made.timeline().figures.overlap());
  EXPECT_EQ(find_lane(made.timeline(), "Overlap"), nullptr);
}

TEST(Timeline, OfACaseWithoutRecordsIsEmpty) {
  FabricatedTrace made;
  made.add_case("a");
  const Timeline timeline = made.timeline();
  EXPECT_TRUE(timeline.lanes.empty());
  EXPECT_EQ(timeline.figures.window, 0);
  EXPECT_FALSE(timeline.figures.overlap());
}

TEST(Timeline, OfOneRecordIsOneBlock) {
  FabricatedTrace made;
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
  FabricatedTrace made;
  made.add_case("conv/x@100");
  made.range("mprof", "conv/x@100", {0, 1000});
  made.range("mprof", "layer1", {10, 900});
  made.range("mprof", "prepare", {10, 300});
  made.range("", "of the user", {20, 200});
  made.range("", "within it", {30, 40});
  made.call("cudaMalloc", {20, 60});
  made.call("cudaLaunchKernel", {300, 320});
  made.call("cuLaunchKernel", {305, 315}, trace::Api::driver);
  made.call("cudaStreamSynchronize", {330, 700});
  made.kernel(21, {310, 500});
  made.transfer(8, {70, 290}, to_device, 1 << 20);
  const Timeline timeline = made.timeline();
  std::vector<std::string> lanes;
  for (const TimelineLane& lane : timeline.lanes) lanes.push_back(lane.name);
  EXPECT_EQ(lanes, (std::vector<std::string>{"Ops", "NVTX ranges", "API calls", "stream 8", "stream 21",
                                             "Overlap"}));
  const auto& ops = blocks_of(timeline, "Ops", Activity::op);
  ASSERT_EQ(ops.size(), 1U) << "the range around the whole case is no op";
  EXPECT_EQ(timeline.names.at(ops[0].name), "layer1");
  EXPECT_EQ(blocks_of(timeline, "Ops", Activity::stage).size(), 1U);
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
  FabricatedTrace made;
  made.add_case("a");
  made.add_case("b");
  made.kernel(1, {0, 10}, 0);
  made.kernel(1, {100, 140}, 1);
  made.transfer(2, {100, 140}, to_host, 1, 1);
  const std::vector<CaseIndex> both{1, 0};
  const std::vector<Timeline> all = timelines(made.trace, both);
  EXPECT_EQ(all.at(0).figures.kernels, 40);
  EXPECT_EQ(all.at(0).figures.overlap(), 1.0);
  EXPECT_EQ(all.at(1).figures.kernels, 10);
  EXPECT_EQ(all.at(1).figures.copy_count, 0U);
}

TEST(Timeline, NamesTheDeviceWhereThereAreSeveral) {
  FabricatedTrace made;
  made.add_case("a");
  made.kernel(7, {0, 10});
  made.kernel(7, {0, 10});
  made.trace.kernels.change(made.trace.kernels.size() - 1,
                            [](trace::Kernel& kernel) { kernel.queue.device = 1; });
  const Timeline timeline = made.timeline();
  EXPECT_NE(find_lane(timeline, "GPU 0, stream 7"), nullptr);
  EXPECT_NE(find_lane(timeline, "GPU 1, stream 7"), nullptr);
}

TEST(Timeline, GivesLanesToTheStreamsWithTheMostWork) {
  FabricatedTrace made;
  made.add_case("a");
  for (std::uint32_t stream = 1; stream <= 40; ++stream) made.kernel(stream, {0, 1000 + stream});
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
  FabricatedTrace made;
  made.add_case("a");
  std::int64_t time = 0, total = 0;
  for (std::size_t i = 0; i < kernels; ++i) {
    const auto length = static_cast<std::int64_t>(100 + i * 37 % 900);
    made.kernel(static_cast<std::uint32_t>(1 + i % 4), {time, time + length});
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
  FabricatedTrace made;
  made.add_case("a");
  for (std::uint32_t stream = 1; stream <= 8; ++stream) made.kernel(stream, {0, 1000});
  Timeline timeline = made.timeline({.blocks = 2});
  EXPECT_EQ(blocks_in(timeline), 8U) << "one for each strip";
}

}  // namespace
}  // namespace mprof
