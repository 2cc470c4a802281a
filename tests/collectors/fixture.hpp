// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "collectors/collector.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/measurements.hpp"

namespace mprof::test {

/// A case of two ops on a fake device, and a collector that a test drives as the runner does.
class CollectorTest : public testing::Test {
 protected:
  CollectorTest() { subject.ops = {{.name = "layer1"}, {.name = "layer2"}}; }

  static const CollectorKind& kind(std::string_view id, Pass pass) {
    for (const CollectorKind* kind : CollectorKinds::instance().of(pass, "cpu")) {
      if (kind->id == id) return *kind;
    }
    throw std::logic_error("no collector " + std::string(id));
  }

  [[nodiscard]] std::unique_ptr<Collector> make(std::string_view id, Pass pass = Pass::timing) {
    return kind(id, pass).make({subject, device, clock, plan});
  }

  /// One stage that takes `seconds`.
  void stage(Collector& collector, std::string_view op, Stage stage, double seconds) {
    collector.begin_stage(op, stage);
    clock.advance(seconds);
    collector.end_stage(op, stage);
  }

  FakeClock clock;
  FakeDevice device{clock};
  Case subject;
  Plan plan;
  std::vector<Measurement> measurements;
};

}  // namespace mprof::test
