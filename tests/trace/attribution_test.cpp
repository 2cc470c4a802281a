// SPDX-License-Identifier: MIT
#include "model/trace/attribution.hpp"

#include <gtest/gtest.h>

#include "tests/support/sample_trace.hpp"

namespace mprof {
namespace {

using trace::Place;

class AttributionTest : public ::testing::Test {
 protected:
  AttributionTest() { trace::attribute(recording); }

  [[nodiscard]] Place place_of(trace::PlaceIndex index) const { return traced.places.at(index); }
  [[nodiscard]] Place place_of_call(std::int64_t correlation) const {
    for (const trace::Call& call : traced.calls) {
      if (call.correlation == correlation) return place_of(call.place);
    }
    return {};
  }
  [[nodiscard]] const trace::Counts& counts() const { return traced.cases[0].counts; }

  trace::Recording recording = test::sample_recording();
  trace::Trace& traced = recording.trace;
};

TEST_F(AttributionTest, WorkBelongsToTheRangeThatLaunchedIt) {
  const Place op{"layer1", trace::part::op};
  EXPECT_EQ(place_of(traced.kernels[0].place), op);  // ends in finish
  EXPECT_EQ(place_of(traced.kernels[1].place), op);
  EXPECT_EQ(place_of(traced.transfers[0].place), (Place{"layer1", trace::part::prepare}));
  EXPECT_EQ(place_of(traced.transfers[2].place), (Place{"layer1", trace::part::finish}));
  EXPECT_EQ(place_of(traced.synchronizations[0].place), op);
  EXPECT_EQ(place_of_call(10), (Place{"layer1", trace::part::prepare}));
}

TEST_F(AttributionTest, WorkOfAnotherThreadBelongsToTheRangeThatWasOpen) {
  EXPECT_EQ(place_of_call(20), (Place{"layer1", trace::part::op}));
  EXPECT_EQ(place_of(traced.kernels[2].place), (Place{"layer1", trace::part::op}));
}

TEST_F(AttributionTest, AllKernelsOfAGraphBelongToItsLaunch) {
  EXPECT_EQ(place_of(traced.kernels[3].place), (Place{"layer2", trace::part::op}));
  EXPECT_EQ(place_of(traced.kernels[4].place), (Place{"layer2", trace::part::op}));
}

TEST_F(AttributionTest, WhatTheRunnerDoesInAPauseIsNoWorkOfTheOp) {
  EXPECT_EQ(place_of(traced.transfers[1].place), (Place{"", trace::part::pause}));
}

TEST_F(AttributionTest, AKernelWithoutACallBelongsToNothingAndIsCounted) {
  EXPECT_EQ(traced.kernels[5].place, trace::nowhere);
  EXPECT_EQ(counts().unattributed, 1U);
}

TEST_F(AttributionTest, TheExternalIdWinsAndADisagreementIsCounted) {
  EXPECT_EQ(place_of_call(40), (Place{"layer2", trace::part::finish}));
  EXPECT_EQ(counts().disagreements, 1U);
}

TEST_F(AttributionTest, WithoutExternalIdsThreadAndTimeSayTheSame) {
  trace::Recording again = test::sample_recording();
  again.external_correlations.clear();
  trace::attribute(again);
  for (std::size_t i = 0; i < traced.kernels.size(); ++i) {
    EXPECT_EQ(again.trace.kernels[i].place, traced.kernels[i].place) << i;
  }
  EXPECT_EQ(again.trace.cases[0].counts.disagreements, 0U);
}

TEST_F(AttributionTest, AttributingTwiceCountsOnce) {
  trace::attribute(recording);
  EXPECT_EQ(counts().unattributed, 1U);
  EXPECT_EQ(counts().disagreements, 1U);
  EXPECT_EQ(counts().dropped, 3U);
}

}  // namespace
}  // namespace mprof
