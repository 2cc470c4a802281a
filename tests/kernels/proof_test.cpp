// SPDX-License-Identifier: MIT
// What shows that each execution did its work: orders of inputs, kept references, fingerprints.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/common/fingerprint.hpp"
#include "kernels/common/turning.hpp"
#include "kernels/common/verification.hpp"
#include "kernels/conv/lenet/execution.hpp"
#include "kernels/elementwise/map/execution.hpp"
#include "tests/kernels/lenet_support.hpp"

namespace mprof {
namespace {

using ::testing::HasSubstr;

TEST(Turning, BeginsWithAnotherItemInEachOrder) {
  for (const std::size_t items : {1U, 2U, 3U, 7U, 8U, 100U, 1000U, 10000U}) {
    const Turning turning(items);
    std::set<std::size_t> firsts;
    for (std::size_t turn = 0; turn < turning.turns(); ++turn) firsts.insert(turning.first(turn));
    EXPECT_EQ(firsts.size(), turning.turns()) << items;
    EXPECT_EQ(turning.turns(), std::min<std::size_t>(items, 8)) << items;
    EXPECT_LT(*firsts.rbegin(), items);
    EXPECT_EQ(turning.held(), items + *firsts.rbegin());
    EXPECT_EQ(turning.item(*firsts.rbegin(), items - 1), (*firsts.rbegin() + items - 1) % items);
  }
}

TEST(Turning, MayHaveOneOrderOfManyItems) {
  const Turning turning(100, 1);
  EXPECT_EQ(turning.turns(), 1U);
  EXPECT_EQ(turning.held(), 100U);
  EXPECT_EQ(turning.item(turning.first(0), 42), 42U);
}

TEST(Fingerprint, ChangesWithEachValueAndWithTheirOrder) {
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 1.0F);
  const std::uint64_t before = fingerprint(values);
  EXPECT_EQ(fingerprint(values), before);
  std::swap(values[3], values[700]);
  EXPECT_NE(fingerprint(values), before);
  std::swap(values[3], values[700]);
  values[999] = -values[999];
  EXPECT_NE(fingerprint(values), before);
}

/// Ten items of three elements; item i is i, i + 0.25, i + 0.5.
class Proofs : public ::testing::Test {
 protected:
  static constexpr std::size_t items = 10, size = 3;

  [[nodiscard]] static double right(std::size_t item, std::size_t place) {
    return static_cast<double>(item) + 0.25 * static_cast<double>(place);
  }
  /// The output of an order, as an honest variant leaves it.
  [[nodiscard]] std::vector<float> output(std::size_t turn) const {
    std::vector<float> values;
    for (std::size_t i = 0; i < items * size; ++i)
      values.push_back(static_cast<float>(right(turning.item(turning.first(turn), i / size), i % size)));
    return values;
  }
  Verification shown(const std::vector<float>& values, const Trial& trial) {
    return proof({.op = "op",
                  .item = "item",
                  .item_size = size,
                  .output = values,
                  .tolerance = 1e-6,
                  .reference =
                      [&](std::size_t block) {
                        ++references;
                        std::vector<double> reference;
                        for (std::size_t i = 0; i < size; ++i)
                          reference.push_back(right(turning.item(turning.first(trial.turn), block), i));
                        return reference;
                      },
                  .place = [](std::size_t element) { return std::to_string(element); }},
                 trial);
  }

  Turning turning{items};
  OutputProof proof{turning};
  std::atomic<int> references = 0;
};

TEST_F(Proofs, TheReferenceIsComputedOnceAndHoldsForEachOrder) {
  EXPECT_TRUE(shown(output(3), {.proof = Proof::all_items, .turn = 3}).passed);
  EXPECT_EQ(references, static_cast<int>(items));
  for (std::size_t turn = 0; turn < turning.turns(); ++turn) {
    const Verification again = shown(output(turn), {.proof = Proof::as_before, .turn = turn});
    EXPECT_TRUE(again.passed) << turn << again.finding;
    EXPECT_EQ(again.elements, items * size);
  }
  EXPECT_EQ(references, static_cast<int>(items));
}

TEST_F(Proofs, AnOutputOfAnotherOrderIsWrongInEachItem) {
  ASSERT_TRUE(shown(output(0), {.proof = Proof::all_items, .turn = 0}).passed);
  const Verification replayed = shown(output(0), {.proof = Proof::as_before, .turn = 1});
  EXPECT_FALSE(replayed.passed);
  EXPECT_THAT(replayed.finding, HasSubstr("the relative L2 error of item"));
}

TEST_F(Proofs, TheChecksumIsOfTheBitsInWhateverOrderTheyCame) {
  const auto checksum_of = [&](const std::vector<float>& values, const Trial& trial) {
    proof = OutputProof(turning);
    return shown(values, trial).checksum;
  };
  const std::string first = checksum_of(output(0), {.proof = Proof::all_items});
  EXPECT_EQ(first, fmt::format("{:016x}", fingerprint(output(0)))) << "the hash that is documented";
  for (std::size_t turn = 1; turn < turning.turns(); ++turn)
    EXPECT_EQ(checksum_of(output(turn), {.proof = Proof::all_items, .turn = turn}), first) << turn;
  std::vector<float> flipped = output(2);
  flipped[11] = std::nextafter(flipped[11], 1e9F);
  const Verification verified = shown(flipped, {.proof = Proof::all_items, .turn = 2});
  EXPECT_TRUE(verified.passed) << "within the tolerance";
  EXPECT_NE(verified.checksum, first);
  std::vector<float> exchanged = output(0);
  std::swap(exchanged[3], exchanged[4]);
  EXPECT_NE(checksum_of(exchanged, {.proof = Proof::all_items}), first) << "the same values at other places";
  EXPECT_EQ(checksum_of(output(5), {.proof = Proof::some_items, .turn = 5, .seed = 7}), "")
      << "of what was not compared nothing is said";
}

TEST_F(Proofs, AnOutputOfTheSameBitsAsOneThatWasVerifiedNeedsNoReference) {
  const std::vector<Verification> verified{shown(output(1), {.proof = Proof::all_items, .turn = 1})};
  proof = OutputProof(turning);  // as in another process
  references = 0;
  const Trial all_items{.proof = Proof::all_items, .turn = 3, .seed = 7, .verified = verified};
  EXPECT_EQ(shown(output(3), all_items), verified[0]);
  EXPECT_LE(references, static_cast<int>(items)) << "of some items, drawn by the seed";
  references = 0;
  EXPECT_TRUE(shown(output(2), {.proof = Proof::as_before, .turn = 2}).passed);
  std::vector<float> spoilt = output(2);
  spoilt[17] += 0.01F;
  EXPECT_FALSE(shown(spoilt, {.proof = Proof::as_before, .turn = 2}).passed);
  EXPECT_FALSE(shown(output(2), {.proof = Proof::as_before, .turn = 3}).passed) << "of another order";
  EXPECT_EQ(references, 0);
}

TEST_F(Proofs, AnOutputOfOtherBitsIsComparedAsAWhole) {
  const std::vector<Verification> verified{shown(output(0), {.proof = Proof::all_items})};
  proof = OutputProof(turning);
  std::vector<float> flipped = output(2);
  flipped[11] = std::nextafter(flipped[11], 1e9F);
  references = 0;
  const Verification other = shown(flipped, {.proof = Proof::all_items, .turn = 2, .verified = verified});
  EXPECT_TRUE(other.passed) << "within the tolerance";
  EXPECT_NE(other.checksum, verified[0].checksum);
  EXPECT_EQ(references, static_cast<int>(items));
  flipped[11] += 0.01F;
  EXPECT_FALSE(shown(flipped, {.proof = Proof::all_items, .turn = 2, .verified = verified}).passed);
}

/// What was verified of another op, at another tolerance, in part or as wrong says nothing of this output.
TEST_F(Proofs, WhatWasNotVerifiedOfThisOpIsVerified) {
  const Verification right = shown(output(0), {.proof = Proof::all_items});
  std::vector<std::vector<Verification>> useless(5, {right});
  useless[0][0].op = "another";
  useless[1][0].passed = false;
  useless[2][0].tolerance = 1;
  useless[3][0].elements = 3;
  useless[4][0].checksum = "";
  for (const std::vector<Verification>& verified : useless) {
    proof = OutputProof(turning);
    references = 0;
    EXPECT_TRUE(shown(output(0), {.proof = Proof::all_items, .verified = verified}).passed);
    EXPECT_EQ(references, static_cast<int>(items));
  }
}

/// Whoever knows the checksum could contrive an output that has it.
TEST_F(Proofs, AContrivedChecksumDoesNotMakeAnOutputRight) {
  std::vector<float> wrong = output(0);
  for (float& value : wrong) value += 0.01F;
  std::vector<Verification> verified{shown(output(0), {.proof = Proof::all_items})};
  proof = OutputProof(turning);
  verified[0].checksum = fmt::format("{:016x}", fingerprint(wrong));
  EXPECT_FALSE(shown(wrong, {.proof = Proof::all_items, .seed = 3, .verified = verified}).passed);
}

TEST_F(Proofs, OneWrongElementIsSeenWhereEachIsCompared) {
  ASSERT_TRUE(shown(output(0), {.proof = Proof::all_items}).passed);
  std::vector<float> spoilt = output(2);
  spoilt[17] += 0.01F;
  EXPECT_FALSE(shown(spoilt, {.proof = Proof::as_before, .turn = 2}).passed);
}

TEST_F(Proofs, SomeItemsAreComparedWithAReferenceOfTheirOwn) {
  const Verification some = shown(output(5), {.proof = Proof::some_items, .turn = 5, .seed = 7});
  EXPECT_TRUE(some.passed) << some.finding;
  EXPECT_EQ(references, static_cast<int>(some.elements / size));
  EXPECT_FALSE(shown(output(4), {.proof = Proof::some_items, .turn = 5, .seed = 7}).passed);
}

TEST(Orders, OfImagesGiveTheSameQualities) {
  const conv::Inputs inputs = conv::test::random_inputs(12);
  const conv::Declaration& declaration = declaration_of<conv::Convolution>("conv/cpu_threads");
  conv::LenetExecution execution(inputs, declaration,
                                 resolve_parameters(declaration.parameters, "conv/cpu_threads", {}));
  NoObserver observer;
  const ExecutionResult first = execution.run(observer, {.proof = Proof::all_items});
  ASSERT_GT(execution.turns(), 1U);
  for (std::size_t turn = 0; turn < execution.turns(); ++turn) {
    const ExecutionResult other = execution.run(observer, {.proof = Proof::as_before, .turn = turn});
    EXPECT_EQ(other.qualities.at(0).value, first.qualities.at(0).value) << turn;
    for (const Verification& op : other.verification) EXPECT_TRUE(op.passed) << turn << op.finding;
  }
  EXPECT_TRUE(execution.has_its_inputs());
}

TEST(Orders, OfUnseenInputsAreOthersForAnotherSeed) {
  const elementwise::Inputs inputs({.size = 16, .iterations = 3});
  const auto& declaration = declaration_of<elementwise::Map>("elementwise/cpu_naive");
  elementwise::MapExecution execution(inputs, declaration, {});
  NoObserver observer;
  std::set<std::vector<float>> outputs;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Trial trial{.proof = Proof::some_items, .unseen = true, .seed = seed};
    const ExecutionResult result = execution.run(observer, trial);
    EXPECT_TRUE(result.verification.at(0).passed) << result.verification[0].finding;
    outputs.emplace(execution.output().begin(), execution.output().end());
  }
  EXPECT_EQ(outputs.size(), 3U);
}

TEST(Inputs, ThatAreOverwrittenAreNoticed) {
  const elementwise::Inputs inputs({.size = 16, .iterations = 3});
  const auto& declaration = declaration_of<elementwise::Map>("elementwise/cpu_naive");
  const elementwise::MapExecution execution(inputs, declaration, {});
  EXPECT_TRUE(execution.has_its_inputs());
  const_cast<float*>(inputs.values.data())[100] += 1;
  EXPECT_FALSE(execution.has_its_inputs());
}

}  // namespace
}  // namespace mprof
