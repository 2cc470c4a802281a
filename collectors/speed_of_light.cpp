#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectors/collector.hpp"
#include "model/statistics.hpp"

namespace mprof {
namespace {

/// A number or why there is none, on its way to a Measurement.
struct Value {
  double number = 0;
  std::string absent;
};

/// Achieved rates and their share of the measured peaks, modelled: from the FLOPs and bytes that the op's
/// definition needs, not from what the hardware counted. Watches nothing; works on the op times that stand
/// before it.
class SpeedOfLight final : public Collector {
 public:
  explicit SpeedOfLight(const CaseContext& context)
      : ops_(context.subject.ops), device_(context.device.id()), ceilings_(context.ceilings) {}

  void finish(std::vector<Measurement>& measurements) override {
    const Value compute = ceiling("fp32_flop_rate");
    const Value memory = ceiling("memory_bandwidth");
    for (const OpInfo& op : ops_) {
      const Value time = op_time(op.name, measurements);
      const Value flop_rate = rate(op.flops, time);
      const Value byte_rate = rate(op.bytes, time);
      add(measurements, "flops", op.name, {op.flops, ""});
      add(measurements, "bytes", op.name, {op.bytes, ""});
      add(measurements, "flop_rate", op.name, flop_rate);
      add(measurements, "byte_rate", op.name, byte_rate);
      add(measurements, "compute_throughput", op.name, percentage(flop_rate, compute));
      add(measurements, "memory_throughput", op.name, percentage(byte_rate, memory));
    }
  }

 private:
  [[nodiscard]] Value ceiling(const std::string& id) const {
    for (const Ceiling& ceiling : ceilings_) {
      if (ceiling.id != id || ceiling.device != device_) continue;
      if (!ceiling.value) return {0, "the peak " + id + " is absent: " + ceiling.absent};
      return {*ceiling.value, ""};
    }
    return {0, "the peak " + id + " of " + device_ + " was not measured"};
  }

  [[nodiscard]] static Value op_time(const std::string& op, const std::vector<Measurement>& measurements) {
    const auto found = std::ranges::find_if(
        measurements, [&](const Measurement& row) { return row.metric == "op_time" && row.op == op; });
    if (found == measurements.end()) return {0, "op_time was not measured"};
    if (found->samples.empty()) return {0, "op_time is absent: " + found->absent};
    const double seconds = median(found->samples);
    if (seconds <= 0) return {0, "op_time is 0: the variant works outside forward()"};
    return {seconds, ""};
  }

  [[nodiscard]] static Value rate(double work, const Value& time) {
    return time.absent.empty() ? Value{work / time.number, ""} : time;
  }

  [[nodiscard]] static Value percentage(const Value& part, const Value& whole) {
    if (!part.absent.empty()) return part;
    return whole.absent.empty() ? Value{100 * part.number / whole.number, ""} : whole;
  }

  static void add(std::vector<Measurement>& measurements, const char* metric, const std::string& op,
                  const Value& value) {
    Measurement row{metric, op, "", Source::modelled, {}, value.absent};
    if (value.absent.empty()) row.samples.push_back(value.number);
    measurements.push_back(std::move(row));
  }

  std::vector<OpInfo> ops_;
  std::string device_;
  std::vector<Ceiling> ceilings_;
};

const bool registered =
    (CollectorKinds::instance().add({
         "speed_of_light",
         Pass::timing,
         "",
         100,  // after the op times
         [] { return std::nullopt; },
         [](const CaseContext& context) { return std::make_unique<SpeedOfLight>(context); },
     }),
     true);

}  // namespace
}  // namespace mprof
