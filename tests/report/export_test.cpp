// SPDX-License-Identifier: MIT
#include "report/export/export.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "model/trace/reader.hpp"
#include "model/trace/writer.hpp"
#include "report/text/csv.hpp"
#include "report/text/format.hpp"
#include "report/trace/slice_lanes.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A table by its columns, read as RFC 4180 has it.
using CsvRows = std::vector<std::map<std::string, std::string>>;

std::vector<std::vector<std::string>> csv_records(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> fields(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_quotes && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      fields.back() += text[++i];
    } else if (c == '"') {
      in_quotes = !in_quotes;
    } else if (c == ',' && !in_quotes) {
      fields.emplace_back();
    } else if (c == '\n' && !in_quotes) {
      records.push_back(std::move(fields));
      fields.assign(1, "");
    } else {
      fields.back() += c;
    }
  }
  EXPECT_FALSE(in_quotes);
  return records;
}

CsvRows read_table(const fs::path& file) {
  const auto records = csv_records(read_file(file));
  CsvRows table;
  for (std::size_t r = 1; r < records.size(); ++r) {
    EXPECT_EQ(records[r].size(), records[0].size()) << file << ", row " << r;
    table.emplace_back();
    for (std::size_t i = 0; i < std::min(records[r].size(), records[0].size()); ++i)
      table.back()[records[0][i]] = records[r][i];
  }
  return table;
}

std::string refusal(const Run& run, const ExportOptions& options) {
  try {
    static_cast<void>(write_export(run, options));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

std::int64_t nanoseconds(const json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

/// A slice of a timeline, and whether it holds a moment.
struct DrawnSlice {
  std::int64_t start = 0;
  std::int64_t end = 0;
  json event;
};

/// trace.perfetto.json by its parts, with the rules checked that every such file must keep.
class ExportedTimeline {
 public:
  explicit ExportedTimeline(const fs::path& file) : document(json::parse(read_file(file))) {
    for (const json& event : document.at("traceEvents")) add(event);
    check_tracks();
    EXPECT_EQ(arrows_from.size(), arrows_to.size());
  }

  /// The track that has slices of a name; "" when there is none.
  [[nodiscard]] std::string track_of(const std::string& name) const {
    for (const auto& [tid, slices] : tracks) {
      for (const DrawnSlice& slice : slices) {
        if (slice.event.at("name") == name) return threads.at(tid);
      }
    }
    return {};
  }
  [[nodiscard]] std::vector<json> slices(const std::string& category) const {
    std::vector<json> found;
    for (const auto& [tid, all] : tracks) {
      for (const DrawnSlice& slice : all) {
        if (slice.event.at("cat") == category) found.push_back(slice.event);
      }
    }
    return found;
  }
  /// The innermost slice that an arrow's end is bound to.
  [[nodiscard]] json bound(const json& end) const {
    const std::int64_t at = nanoseconds(end.at("ts"));
    json found;
    for (const DrawnSlice& slice : tracks.at(end.at("tid"))) {
      if (slice.start <= at && (at < slice.end || at == slice.start)) found = slice.event;
    }
    return found;
  }

  json document;
  std::map<int, std::string> processes;
  std::map<int, std::string> threads;
  std::map<int, int> process_of;
  std::map<int, std::vector<DrawnSlice>> tracks;  ///< by tid, in the order of the file
  std::map<int, json> arrows_from, arrows_to;

 private:
  void add(const json& event) {
    const std::string phase = event.at("ph");
    if (phase == "M" && event.at("name") == "process_name") {
      processes[event.at("pid")] = event.at("args").at("name");
    } else if (phase == "M" && event.at("name") == "thread_name") {
      EXPECT_TRUE(threads.emplace(event.at("tid"), event.at("args").at("name")).second) << "a tid twice";
      process_of[event.at("tid")] = event.at("pid");
    } else if (phase == "X") {
      const std::int64_t start = nanoseconds(event.at("ts"));
      ASSERT_EQ(process_of.at(event.at("tid")), event.at("pid"));
      tracks[event.at("tid")].push_back({start, start + nanoseconds(event.at("dur")), event});
    } else if (phase == "s") {
      arrows_from[event.at("id")] = event;
    } else if (phase == "f") {
      EXPECT_EQ(event.at("bp"), "e");
      arrows_to[event.at("id")] = event;
    }
  }

  void check_tracks() const {
    for (const auto& [tid, slices] : tracks) {
      const bool of_gpu = threads.at(tid).starts_with("GPU");
      std::vector<std::int64_t> open;
      std::int64_t last = 0;
      for (const DrawnSlice& slice : slices) {
        EXPECT_GE(slice.start, last) << "out of order, or before the case's start";
        last = slice.start;
        while (!open.empty() && open.back() <= slice.start) open.pop_back();
        EXPECT_TRUE(open.empty() || slice.end <= open.back()) << "overlaps in part: " << slice.event;
        EXPECT_TRUE(open.empty() || !of_gpu) << "two at once on a stream's track: " << slice.event;
        open.push_back(slice.end);
      }
    }
  }
};

/// Two cases of a run with three, in the trace in the other order than in the run.
class ExportOfATrace : public ::testing::Test {
 protected:
  ExportOfATrace() {
    std::vector<trace::Trace> traces = samples::traces_of(run, 2);
    traces[0].kernels.rows()[0].place = traces[0].index_of({"layer1", trace::part::op});
    trace::write_trace(file, traces[1]);
    trace::write_trace(file, traces[0]);
  }

  Exported exported(std::vector<std::string> formats, std::vector<std::string> cases = {}) const {
    return write_export(run, {.formats = std::move(formats),
                              .out = out,
                              .trace = file,
                              .cases = std::move(cases),
                              .with_pauses = with_pauses});
  }
  [[nodiscard]] ExportedTimeline timeline() const {
    static_cast<void>(exported({"perfetto-json"}));
    return ExportedTimeline(out / "trace.perfetto.json");
  }
  [[nodiscard]] CsvRows table(const std::string& name) const {
    static_cast<void>(exported({"csv"}));
    return read_table(out / name);
  }
  /// Memsets, calls and ranges of an export for readers of Nsight Systems' files.
  [[nodiscard]] std::vector<std::size_t> counts_of_nsys(const std::string& id) const {
    const Exported made = exported({"nsys"}, {id});
    const trace::Trace one = trace::read_trace(made.written.back(), {.parts = trace::every_part});
    const auto sets = std::ranges::count_if(one.transfers, &trace::Transfer::is_set);
    return {static_cast<std::size_t>(sets), one.calls.size(), one.ranges.size()};
  }

  test::TemporaryDirectory directory;
  fs::path file = directory.path() / "trace.sqlite";
  fs::path out = directory.path() / "export";
  mprof::Run run = samples::gpu();
  bool with_pauses = false;
};

TEST(SliceLanes, KeepWhatOverlapsInPartApart) {
  SliceLanes nested(Nesting::allowed);
  EXPECT_EQ(nested.place({0, 100}), 0U);
  EXPECT_EQ(nested.place({0, 100}), 0U) << "as long as the outer one";
  EXPECT_EQ(nested.place({10, 50}), 0U);
  EXPECT_EQ(nested.place({40, 60}), 1U);
  EXPECT_EQ(nested.place({50, 100}), 0U) << "begins as the inner one ends";
  EXPECT_EQ(nested.place({55, 58}), 0U);
  EXPECT_EQ(nested.place({99, 101}), 1U);
  EXPECT_EQ(nested.place({100, 100}), 0U);
}

TEST(SliceLanes, OfAStreamHoldOneAtATime) {
  SliceLanes flat(Nesting::none);
  EXPECT_EQ(flat.place({0, 100}), 0U);
  EXPECT_EQ(flat.place({10, 20}), 1U);
  EXPECT_EQ(flat.place({15, 18}), 2U);
  EXPECT_EQ(flat.place({20, 30}), 1U);
  EXPECT_EQ(flat.place({100, 110}), 0U);
}

TEST(CsvField, IsNoFormulaOfASpreadsheet) {
  for (const char* text : {"=1+1", "+cmd", "-cmd|' /C calc'!A0", "@SUM(A1)", "-1e", "--5"})
    EXPECT_EQ(csv_field(text), "'" + std::string(text)) << text;
  EXPECT_EQ(csv_field("=a(\"b\",1)"), "\"'=a(\"\"b\"\",1)\"");
  for (const char* text : {"-1.5", "+2", "-3e-05", "-", "", "a=b", "conv/a@1", "'=1"})
    EXPECT_EQ(csv_field(text), text) << "stays as it is";
}

TEST(CsvField, TellsATerminalNothing) {
  EXPECT_EQ(csv_field("a\x1b]0;title\x07 b\tc\r\nd"), "a ]0;title  b c  d");
  EXPECT_EQ(csv_field("\xc2\x9b[31m"), " [31m");
  EXPECT_EQ(csv_field("\t=1+1"), " =1+1");
}

TEST(Format, WritesNumbersForProgramsWithEveryDigit) {
  EXPECT_EQ(format::microseconds(1'234'567'890), "1234567.890");
  EXPECT_EQ(format::microseconds(7), "0.007");
  EXPECT_EQ(format::microseconds(-1001), "-1.001");
  EXPECT_EQ(format::exact(0.1), "0.1");
  EXPECT_EQ(std::stod(format::exact(1.0 / 3)), 1.0 / 3);
  EXPECT_EQ(format::exact(std::numeric_limits<double>::quiet_NaN()), "");
}

TEST_F(ExportOfATrace, MakesAProcessOfEachCaseInTheOrderOfTheRun) {
  const ExportedTimeline all = timeline();
  ASSERT_EQ(all.processes.size(), 2U);
  EXPECT_EQ(all.processes.begin()->second, run.cases[0].id);
  EXPECT_EQ(all.processes.rbegin()->second, run.cases[1].id);
  EXPECT_EQ(all.document.at("displayTimeUnit"), "ns");
  for (const auto& [tid, slices] : all.tracks) EXPECT_FALSE(all.processes.contains(tid));
}

TEST_F(ExportOfATrace, MakesAThreadOfEachHostThreadAndEachStream) {
  const ExportedTimeline all = timeline();
  std::multiset<std::string> names;
  for (const auto& [tid, name] : all.threads) names.insert(name);
  const std::multiset<std::string> of_a_case{"GPU 0, stream 7",     "GPU 0, stream 8", "GPU 0, stream 9",
                                             "GPU 0, stream 7 (2)",  // a copy begins before a kernel ends
                                             "host thread 1001",    "host thread 1002"};
  for (const std::string& name : of_a_case) EXPECT_EQ(names.count(name), 2U) << name;
  EXPECT_EQ(names.size(), 12U);
  EXPECT_EQ(all.threads.begin()->second, "host thread 1001") << "the thread that runs the case comes first";
  EXPECT_EQ(all.track_of("cudaMalloc"), "host thread 1001");
  EXPECT_EQ(all.track_of("mprof:layer1"), "host thread 1001");
  EXPECT_EQ(all.track_of("[CUDA memcpy Host-to-Device]"), "GPU 0, stream 7");
}

TEST_F(ExportOfATrace, CountsTimeFromTheStartOfEachCaseInMicroseconds) {
  for (const auto& [tid, slices] : timeline().tracks) {
    for (const DrawnSlice& slice : slices) {
      if (slice.event.at("name") != "[CUDA memcpy Host-to-Device]") continue;
      EXPECT_EQ(slice.start, 420);
      EXPECT_EQ(slice.end, 820);
    }
  }
  const std::string text = read_file(out / "trace.perfetto.json");
  EXPECT_NE(text.find(R"("ts":0.420,"dur":0.400)"), std::string::npos);
}

TEST_F(ExportOfATrace, TellsWhatAKernelAndACopyAreMadeOf) {
  const ExportedTimeline all = timeline();
  const json kernel = all.slices("kernel").front();
  EXPECT_EQ(kernel.at("name"), "tiled");
  const json& of_kernel = kernel.at("args");
  EXPECT_EQ(of_kernel.at("kernel"), "void mprof::tiled<16>(float*)");
  EXPECT_EQ(of_kernel.at("grid"), json({28, 28, 100}));
  EXPECT_EQ(of_kernel.at("block"), json({16, 16, 1}));
  EXPECT_EQ(of_kernel.at("registers_per_thread"), 32);
  EXPECT_EQ(of_kernel.at("static_shared_memory_bytes"), 2048);
  EXPECT_EQ(of_kernel.at("dynamic_shared_memory_bytes"), 0);
  EXPECT_EQ(of_kernel.at("op"), "layer1");
  EXPECT_EQ(of_kernel.at("part"), "op");
  for (const json& transfer : all.slices("transfer")) {
    if (transfer.at("name") != "[CUDA memcpy Host-to-Device]") continue;
    EXPECT_EQ(transfer.at("args").at("bytes"), 4096);
    EXPECT_EQ(transfer.at("args").at("bytes_per_second"), 10'240'000'000);
    EXPECT_EQ(transfer.at("args").at("source_memory"), "Pinned");
  }
}

TEST_F(ExportOfATrace, DrawsAnArrowFromTheRuntimesCallToAllThatItLaunched) {
  const ExportedTimeline all = timeline();
  std::multiset<std::string> launched;
  for (const auto& [id, from] : all.arrows_from) {
    const json& to = all.arrows_to.at(id);
    const json call = all.bound(from), work = all.bound(to);
    EXPECT_EQ(from.at("pid"), to.at("pid"));
    EXPECT_LE(nanoseconds(from.at("ts")), nanoseconds(to.at("ts")));
    EXPECT_EQ(call.at("cat"), "cuda_runtime") << "not the driver's call within it";
    EXPECT_EQ(call.at("args").at("correlation"), work.at("args").at("correlation"));
    launched.insert(call.at("name").get<std::string>() + " " + work.at("name").get<std::string>());
  }
  // A kernel whose call is lost has no arrow; a graph's launch has one for each node.
  EXPECT_EQ(launched.count("cudaGraphLaunch_v10000 tiled"), 2U);
  EXPECT_EQ(launched.count("cudaGraphLaunch_v10000 scale"), 2U);
  EXPECT_EQ(launched.count("cudaLaunchKernel tiled"), 4U);
  EXPECT_EQ(launched.count("cudaMemcpyAsync [CUDA memcpy Host-to-Device]"), 2U);
  EXPECT_EQ(all.arrows_from.size(), all.slices("kernel").size() + all.slices("transfer").size() - 2);
}

TEST_F(ExportOfATrace, GivesNodesOfAGraphThatRunAtOnceTracksOfTheirOwn) {
  trace::Trace trace = samples::traces_of(run, 1).front();
  trace.kernels.change_all([](trace::Kernel& kernel) {
    if (kernel.graph_node == 2) kernel.time = test::at(6750, 6780);  // within the other node's time
  });
  trace::write_trace(file, trace);
  const ExportedTimeline all = timeline();  // which fails when two lie on one track
  std::set<std::string> of_the_graph;
  for (const auto& [tid, slices] : all.tracks) {
    for (const DrawnSlice& slice : slices) {
      const bool in_case = slice.event.at("pid") == all.processes.begin()->first;
      if (in_case && slice.event.at("cat") == "kernel" && slice.start > 6700 && slice.end < 6900)
        of_the_graph.insert(all.threads.at(tid));
    }
  }
  EXPECT_EQ(of_the_graph, (std::set<std::string>{"GPU 0, stream 7", "GPU 0, stream 7 (2)"}));
}

TEST_F(ExportOfATrace, NestsCallsThatStickOutOfTheirRangeOnATrackOfTheirOwn) {
  trace::Trace trace = samples::traces_of(run, 1).front();
  const auto call = [&](std::int64_t correlation, const std::string& name, trace::Interval time) {
    const trace::NameIndex index = trace.names.index(name);
    trace.calls.push_back({.time = time,
                           .correlation = correlation,
                           .thread = test::TraceBuilder::thread(test::TraceBuilder::main_thread),
                           .name = index,
                           .versioned_name = index,
                           .result = 0});
  };
  call(50, "cudaSticksOut", test::at(900, 1050));
  call(51, "cudaAsLongAsPrepare", test::at(110, 1000));
  trace::write_trace(file, trace);
  const ExportedTimeline all = timeline();
  EXPECT_EQ(all.track_of("cudaSticksOut"), "host thread 1001 (2)");
  EXPECT_EQ(all.track_of("cudaAsLongAsPrepare"), "host thread 1001");
}

/// A field of a message in protobuf's wire format.
struct ProtoField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;
  std::string bytes{};  ///< of a text or a message
};

std::vector<ProtoField> fields_of(std::string_view message) {
  std::vector<ProtoField> fields;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(message.at(0));
      message.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  };
  while (!message.empty()) {
    const std::uint64_t key = varint();
    ProtoField field{.number = key >> 3};
    if ((key & 7) == 0) field.value = varint();
    if ((key & 7) == 1) {
      for (std::size_t i = 0; i < 8; ++i)
        field.value |= std::uint64_t{static_cast<unsigned char>(message.at(i))} << (8 * i);
      message.remove_prefix(8);
    }
    if ((key & 7) == 2) {
      const std::uint64_t size = varint();
      field.bytes = std::string(message.substr(0, size));
      message.remove_prefix(size);
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string gunzipped(const std::string& compressed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string contents(std::size_t{16} << 20, '\0'), input = compressed;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(contents.data());
  stream.avail_out = static_cast<uInt>(contents.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  contents.resize(stream.total_out);
  inflateEnd(&stream);
  return contents;
}

/// trace.perfetto-trace.gz: "TRACK: NAME from START to END (ARGUMENT=VALUE ...)" for each slice.
class ProtoTimeline {
 public:
  explicit ProtoTimeline(const fs::path& file) {
    for (const ProtoField& packet : fields_of(gunzipped(read_file(file)))) {
      EXPECT_EQ(packet.number, 1U);
      std::uint64_t time = 0;
      std::vector<ProtoField> event;
      for (const ProtoField& field : fields_of(packet.bytes)) {
        if (field.number == 8) time = field.value;
        if (field.number == 11) event = fields_of(field.bytes);
        if (field.number == 12) intern(fields_of(field.bytes));
        if (field.number == 60) describe(fields_of(field.bytes));
      }
      if (!event.empty()) add(time, event);
    }
    for (const auto& [track, open] : open_) EXPECT_TRUE(open.empty()) << tracks.at(track);
  }

  std::map<std::uint64_t, std::string> tracks, processes;
  std::vector<std::string> slices;
  std::vector<std::string> counts;                              ///< "TRACK: VALUE at TIME"
  std::map<std::uint64_t, std::string> arrows_from, arrows_to;  ///< slices by the ids of arrows

 private:
  void intern(const std::vector<ProtoField>& data) {
    for (const ProtoField& field : data) {
      const std::vector<ProtoField> entry = fields_of(field.bytes);
      texts_[{field.number, entry.at(0).value}] = entry.at(1).bytes;
    }
  }
  void describe(const std::vector<ProtoField>& track) {
    const std::uint64_t id = track.at(0).value;
    for (const ProtoField& field : track) {
      if (field.number == 2) tracks[id] = field.bytes;
      if (field.number == 3) processes[id] = fields_of(field.bytes).at(1).bytes;
    }
  }
  std::string argument(const std::string& bytes) {
    std::string name, value;
    for (const ProtoField& field : fields_of(bytes)) {
      if (field.number == 1) name = texts_.at({3, field.value});
      if (field.number == 4) value = std::to_string(static_cast<std::int64_t>(field.value));
      if (field.number == 12) value += fmt::format("[{}]", fields_of(field.bytes).at(0).value);
      if (field.number == 17) value = texts_.at({29, field.value});
    }
    return fmt::format(" {}={}", name, value);
  }
  void add(std::uint64_t time, const std::vector<ProtoField>& event) {
    std::string name;
    std::set<std::string> arguments;  // in the order of their names, as the JSON has them
    std::uint64_t track = 0, type = 0;
    std::vector<std::uint64_t> from, to;
    double count = 0;
    for (const ProtoField& field : event) {
      if (field.number == 4) arguments.insert(argument(field.bytes));
      if (field.number == 9) type = field.value;
      if (field.number == 10) name = texts_.at({2, field.value});
      if (field.number == 11) track = field.value;
      if (field.number == 47) from.push_back(field.value);
      if (field.number == 48) to.push_back(field.value);
      if (field.number == 44) count = std::bit_cast<double>(field.value);
    }
    if (type == 4) {
      counts.push_back(fmt::format("{}: {} at {}", tracks.at(track), count, time));
    } else if (type == 1) {
      open_[track].push_back(slices.size());
      slices.push_back(fmt::format("{}: {} from {}", tracks.at(track), name, time));
      for (const std::uint64_t id : from) arrows_from[id] = name;
      for (const std::uint64_t id : to) arrows_to[id] = name;
      arguments_.push_back(fmt::format("{}", fmt::join(arguments, "")));
    } else {
      const std::size_t slice = open_[track].back();
      open_[track].pop_back();
      slices[slice] += fmt::format(" to {}{}", time, arguments_[slice]);
    }
  }

  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> texts_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
  std::vector<std::string> arguments_;
};

/// The same of the JSON.
std::multiset<std::string> slices_of(const ExportedTimeline& timeline) {
  std::multiset<std::string> all;
  for (const auto& [tid, slices] : timeline.tracks) {
    for (const DrawnSlice& slice : slices) {
      std::string text = fmt::format("{}: {} from {} to {}", timeline.threads.at(tid),
                                     slice.event.at("name").get<std::string>(), slice.start, slice.end);
      for (const auto& [name, value] : slice.event.at("args").items()) {
        std::string said = value.is_string() ? value.get<std::string>() : value.dump();
        if (value.is_array())
          said = fmt::format("[{}][{}][{}]", value[0].dump(), value[1].dump(), value[2].dump());
        text += fmt::format(" {}={}", name, said);
      }
      all.insert(text);
    }
  }
  return all;
}

TEST_F(ExportOfATrace, IsTheSameTimelineInPerfettosOwnFormat) {
  const ExportedTimeline drawn = timeline();
  static_cast<void>(exported({"perfetto"}));
  const ProtoTimeline own(out / "trace.perfetto-trace.gz");
  EXPECT_EQ(own.processes.size(), drawn.processes.size());
  EXPECT_EQ(std::multiset<std::string>(own.slices.begin(), own.slices.end()), slices_of(drawn));
  EXPECT_EQ(own.arrows_from.size(), drawn.arrows_from.size());
  ASSERT_EQ(own.arrows_to.size(), own.arrows_from.size());
  for (const auto& [id, from] : own.arrows_from) {
    EXPECT_TRUE(from.starts_with("cuda") || from.starts_with("cu")) << from;
    EXPECT_TRUE(own.arrows_to.contains(id)) << from;
  }
}

TEST_F(ExportOfATrace, HasATrackForEachMetricOfTheGpu) {
  trace::Trace trace = samples::traces_of(run, 1).front();
  std::int64_t first = std::numeric_limits<std::int64_t>::max();  // the timeline begins with it
  const auto look = [&](const auto& rows) {
    for (const auto& row : rows) first = std::min(first, row.time.start);
  };
  look(trace.kernels.rows());
  look(trace.transfers);
  look(trace.calls);
  look(trace.ranges);
  trace::GpuSamples samples{
      .device = 0, .times = {{first - 800, first}, {first, first + 800}, {first + 800, first + 1600}}};
  samples.curves = {{"SMs Active [Throughput %]", {7, 12.5, 80}},
                    {"DRAM Read Bandwidth [Throughput %]", {1, std::nanf(""), 3}}};
  samples.interval = 800;
  trace.gpu_samples = {samples};
  trace::write_trace(file, trace);
  static_cast<void>(exported({"perfetto", "perfetto-json"}, {run.cases.front().id}));
  const std::vector<std::string> expected{"GPU 0: SMs Active [Throughput %]: 12.5 at 0",
                                          "GPU 0: SMs Active [Throughput %]: 80 at 800",
                                          "GPU 0: DRAM Read Bandwidth [Throughput %]: 3 at 800"};
  EXPECT_EQ(ProtoTimeline(out / "trace.perfetto-trace.gz").counts, expected);
  std::vector<std::string> counts;
  const json drawn = json::parse(read_file(out / "trace.perfetto.json"));
  for (const json& event : drawn.at("traceEvents")) {
    if (event.at("ph") == "C")
      counts.push_back(fmt::format("{}: {} at {}", event.at("name").get<std::string>(),
                                   event.at("args").at("value").dump(), nanoseconds(event.at("ts"))));
  }
  for (std::string& one : counts) one = std::regex_replace(one, std::regex("\\.0 at"), " at");
  EXPECT_EQ(counts, expected);
}

TEST_F(ExportOfATrace, DrawsNoArrowBackInTime) {
  trace::Trace trace = samples::traces_of(run, 1).front();
  trace.kernels.change_all([](trace::Kernel& kernel) {
    if (kernel.correlation == 13) kernel.time = test::at(1505, 1600);  // 5 ns before its call
  });
  const std::size_t before = timeline().arrows_from.size();
  trace::write_trace(file, trace);
  EXPECT_EQ(timeline().arrows_from.size(), before - 1);
}

TEST_F(ExportOfATrace, LeavesOutWhatMprofDoesInPauses) {
  EXPECT_EQ(timeline().track_of("mprof:pause"), "");
  EXPECT_EQ(timeline().track_of("[CUDA memset]"), "");
  for (const auto& row : table("transfers.csv")) EXPECT_NE(row.at("Name"), "[CUDA memset]");
  EXPECT_EQ(table("transfers.csv").size(), 4U);
}

TEST_F(ExportOfATrace, HasPausesWhereTheyAreAskedFor) {
  const std::string& id = run.cases.front().id;
  const std::vector<std::size_t> without = counts_of_nsys(id);
  with_pauses = true;
  EXPECT_EQ(timeline().track_of("mprof:pause"), "host thread 1001");
  EXPECT_EQ(timeline().track_of("[CUDA memset]"), "GPU 0, stream 7");
  std::size_t sets = 0;
  for (const auto& row : table("transfers.csv")) {
    sets += row.at("Name") == "[CUDA memset]" ? 1 : 0;
    EXPECT_EQ(row.at("Name") == "[CUDA memset]", row.at("part") == "pause");
  }
  EXPECT_EQ(sets, 2U);
  EXPECT_EQ(without.at(0), 0U);
  EXPECT_EQ(counts_of_nsys(id), (std::vector<std::size_t>{1, without.at(1) + 1, without.at(2) + 1}));
}

TEST_F(ExportOfATrace, TabulatesKernelsTransfersAndCallsInTheUnitsOfNsys) {
  const CsvRows kernels = table("kernels.csv"), transfers = table("transfers.csv"),
                calls = table("api_calls.csv");
  ASSERT_EQ(kernels.size(), 12U);
  const auto& kernel = kernels.front();
  EXPECT_EQ(kernel.at("case"), run.cases[0].id);
  for (const Coordinate& coordinate : run.cases[0].key.problem.coordinates)
    EXPECT_EQ(kernel.at(coordinate.axis), std::to_string(coordinate.value));
  EXPECT_EQ(kernel.at("op"), "layer1");
  EXPECT_EQ(kernel.at("Start (ns)"), "1600");
  EXPECT_EQ(kernel.at("Duration (ns)"), "1800");
  EXPECT_EQ(kernel.at("GrdZ"), "100");
  EXPECT_EQ(kernel.at("StcSMem (B)"), "2048");
  EXPECT_EQ(kernel.at("Device"), "NVIDIA H200 (0)");
  EXPECT_EQ(kernel.at("Name"), "void mprof::tiled<16>(float*)");
  EXPECT_EQ(transfers.front().at("Throughput (B/s)"), "10240000000");
  EXPECT_EQ(transfers.front().at("DstMemKd"), "Device");
  const auto launch = std::find_if(calls.begin(), calls.end(), [&](const auto& row) {
    return row.at("CorrId") == kernel.at("CorrId") && row.at("API") == "runtime";
  });
  ASSERT_NE(launch, calls.end());
  EXPECT_EQ(launch->at("Name"), "cudaLaunchKernel");
  EXPECT_EQ(launch->at("Result"), "0");
  EXPECT_EQ(launch->at("Tid"), "1001");
}

TEST_F(ExportOfATrace, ChoosesCases) {
  const Exported one = exported({"perfetto-json", "csv", "json"}, {run.cases[1].id});
  EXPECT_TRUE(one.no_trace.empty());
  EXPECT_EQ(ExportedTimeline(out / "trace.perfetto.json").processes.size(), 1U);
  for (const char* name : {"cases.csv", "ops.csv", "measurements.csv", "samples.csv", "kernels.csv"}) {
    for (const auto& row : read_table(out / name)) EXPECT_EQ(row.at("case"), run.cases[1].id) << name;
  }
  const json analysis = json::parse(read_file(out / "analysis.json"));
  EXPECT_EQ(analysis.at("cases_chosen"), json({run.cases[1].id}));
  ASSERT_EQ(analysis.at("families").at(0).at("cases").size(), 1U);
  // Its baseline is not exported, and the speed-up over it is there.
  EXPECT_TRUE(analysis.at("families").at(0).at("cases").at(0).at("total_speed_up").at("factor").is_number());

  EXPECT_EQ(exported({"csv"}, {"conv/*"}).written.size(), 7U);
  EXPECT_EQ(read_table(out / "cases.csv").size(), 2U);
  const Exported untraced = exported({"perfetto-json"}, {run.cases[2].id});
  EXPECT_TRUE(untraced.written.empty());
  EXPECT_EQ(untraced.no_trace, "trace.sqlite holds none of the cases that were chosen");
  EXPECT_NE(
      refusal(run, {{"csv"}, out, file, {"conv/stream@10000"}}).find("Did you mean conv/streams@10000?"),
      std::string::npos);
}

TEST_F(ExportOfATrace, GivesTheSameBytesAgain) {
  const Exported first = exported({"perfetto-json", "csv", "json"});
  EXPECT_EQ(first.written.size(), 9U);
  std::map<fs::path, std::string> bytes;
  for (const fs::path& one : first.written) bytes[one] = read_file(one);
  for (const fs::path& one : exported({"perfetto-json", "csv", "json"}).written)
    EXPECT_EQ(read_file(one), bytes.at(one)) << one;
  for (const auto& entry : fs::directory_iterator(out)) EXPECT_TRUE(bytes.contains(entry.path())) << entry;
}

TEST(ExportOfARun, WithoutATraceSaysWhyAndWritesTheRest) {
  const test::TemporaryDirectory directory;
  const Exported made =
      write_export(samples::healthy(), {{"perfetto-json", "csv", "json"}, directory.path()});
  EXPECT_EQ(made.written.size(), 5U);
  EXPECT_EQ(made.left_out, (std::vector<std::string>{"trace.perfetto.json", "kernels.csv", "transfers.csv",
                                                     "api_calls.csv"}));
  EXPECT_FALSE(made.no_trace.empty());
  for (const std::string& name : made.left_out) EXPECT_FALSE(fs::exists(directory.path() / name)) << name;
  EXPECT_TRUE(write_export(samples::healthy(), {{"json"}, directory.path()}).no_trace.empty());
}

TEST(ExportOfARun, OneCaseAloneIsAFileOfNsightSystems) {
  const test::TemporaryDirectory folder;
  const mprof::Run run = samples::healthy();
  ASSERT_GT(run.cases.size(), 1U);
  const std::string why = refusal(run, {.formats = {"nsys"}, .out = folder.path() / "out"});
  EXPECT_NE(why.find("such a file holds one"), std::string::npos) << why;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

TEST(ExportOfARun, RefusesUnknownFormatsBeforeItWritesAnything) {
  const test::TemporaryDirectory directory;
  const std::string message = refusal(samples::healthy(), {{"csv", "jsn"}, directory.path() / "none"});
  EXPECT_NE(message.find("Did you mean json"), std::string::npos);
  EXPECT_FALSE(fs::exists(directory.path() / "none"));
}

/// What is missing in each kind of table has its reason in the column beside it.
TEST(ExportOfARun, GivesTheReasonOfEveryMissingValue) {
  const test::TemporaryDirectory directory;
  for (const mprof::Run& run : {samples::troubled(), samples::gpu(), samples::hostile()}) {
    static_cast<void>(write_export(run, {{"csv"}, directory.path()}));
    std::size_t absent = 0;
    const auto expect_reason = [&](const auto& row, const std::string& value, const std::string& reason) {
      EXPECT_NE(row.at(value).empty(), row.at(reason).empty())
          << row.at("case") << ": " << value << " = '" << row.at(value) << "', " << reason << " = '"
          << row.at(reason) << "'";
      absent += row.at(value).empty();
    };
    for (const auto& row : read_table(directory.path() / "cases.csv")) {
      for (const std::string value : {"total_time", "total_speed_up"})
        expect_reason(row, value, value + "_absent");
      for (const FamilyInfo& family : run.families) {
        for (const QualityInfo& quality : family.qualities) {
          for (const std::string& value : {quality.metric, quality.metric + "_change"})
            expect_reason(row, value, value + "_absent");
        }
      }
    }
    for (const auto& row : read_table(directory.path() / "ops.csv")) {
      for (const std::string value : {"op_time", "group_time", "gpu_time", "speed_up", "gpu_speed_up"})
        expect_reason(row, value, value + "_absent");
    }
    for (const auto& row : read_table(directory.path() / "measurements.csv")) {
      expect_reason(row, "median", "absent");
      EXPECT_EQ(row.at("median").empty(), row.at("n") == "0");
      if (!row.at("median").empty()) expect_reason(row, "low", "interval_absent");
    }
    EXPECT_GT(absent, 0U);
  }
}

TEST(ExportOfARun, HasARowForEachMeasurementAndEachSample) {
  const test::TemporaryDirectory directory;
  const mprof::Run run = samples::healthy();
  static_cast<void>(write_export(run, {{"csv"}, directory.path()}));
  const CsvRows measurements = read_table(directory.path() / "measurements.csv"),
                all_samples = read_table(directory.path() / "samples.csv");
  std::size_t row = 0, sample = 0;
  for (const Case& c : run.cases) {
    for (const PassResult& pass : c.passes) {
      for (const Measurement& m : pass.measurements) {
        ASSERT_LT(row, measurements.size());
        EXPECT_EQ(measurements[row].at("metric"), m.metric);
        EXPECT_EQ(measurements[row].at("n"), std::to_string(m.samples.size()));
        EXPECT_EQ(measurements[row].at("source"), to_string(m.source));
        if (m.metric == "op_time") {
          EXPECT_EQ(measurements[row].at("unit"), "s");
        }
        for (std::size_t i = 0; i < m.samples.size(); ++i, ++sample) {
          ASSERT_LT(sample, all_samples.size());
          EXPECT_EQ(all_samples[sample].at("sample"), std::to_string(i));
          EXPECT_EQ(std::stod(all_samples[sample].at("value")), m.samples[i]) << "to the last bit";
        }
        ++row;
      }
    }
  }
  EXPECT_EQ(row, measurements.size());
  EXPECT_EQ(sample, all_samples.size());
}

TEST(ExportOfARun, ShowsNoSpeedUpOfAWrongOutput) {
  const test::TemporaryDirectory directory;
  const mprof::Run run = samples::troubled();
  static_cast<void>(write_export(run, {{"csv", "json"}, directory.path()}));
  std::size_t wrong = 0;
  for (const auto& row : read_table(directory.path() / "ops.csv")) {
    if (row.at("status") != "wrong") continue;
    ++wrong;
    EXPECT_EQ(row.at("speed_up"), "");
    EXPECT_EQ(row.at("speed_up_absent"), "the output is wrong");
  }
  EXPECT_GT(wrong, 0U);
}

/// A run of two families has the axes and the qualities of both.
TEST(ExportOfARun, HasAColumnForEachAxisAndEachQualityOfItsFamilies) {
  const test::TemporaryDirectory directory;
  mprof::Run run = samples::healthy();
  FamilyInfo& other = run.families.emplace_back();
  other.id = "map";
  other.axes = {{.name = "size"}, {.name = "iterations"}};
  other.qualities = {{.metric = "error_norm", .label = "Error norm"}};
  const Problem problem{{{"size", 64}, {"iterations", 5}}};
  other.problems = {{problem, {}}};
  run.variants.push_back({.id = "map/one", .family = "map", .device = "cpu"});
  Case& added = run.cases.emplace_back();
  added.id = "map/one@size=64,iterations=5";
  added.key = {"map/one", {}, problem};
  added.passes = {{.pass = Pass::timing, .status = Status::ok}};
  added.passes[0].measurements = {{"error_norm", "", "", Source::measured, {0.5}, ""}};
  static_cast<void>(write_export(run, {{"csv"}, directory.path()}));
  const CsvRows cases = read_table(directory.path() / "cases.csv");
  ASSERT_EQ(cases.size(), run.cases.size());
  const auto &first = cases.front(), &last = cases.back();
  EXPECT_EQ(last.at("size"), "64");
  EXPECT_EQ(last.at("iterations"), "5");
  EXPECT_EQ(last.at("error_norm"), "0.5");
  EXPECT_EQ(last.at(run.cases[0].key.problem.coordinates.at(0).axis), "");
  EXPECT_EQ(first.at("size"), "");
  EXPECT_EQ(first.at("error_norm"), "");
  EXPECT_EQ(first.at("error_norm_absent"), "its family has no such quality");
}

TEST(ExportOfARun, SaysInJsonWhatTheAnalysisSays) {
  const test::TemporaryDirectory directory;
  const mprof::Run run = samples::gpu();
  static_cast<void>(write_export(run, {{"json"}, directory.path()}));
  const json document = json::parse(read_file(directory.path() / "analysis.json"));
  const RunAnalysis analysis = analyse(run);
  EXPECT_EQ(document.at("schema_version"), export_schema_version);
  ASSERT_EQ(document.at("families").size(), analysis.families.size());
  ASSERT_EQ(document.at("findings").size(), analysis.findings.size());
  const json& family = document.at("families").at(0);
  const FamilyResult& expected = analysis.families[0];
  const OpResult& op = expected.variants[1].cases[0].ops[0];
  const json& exported_op = family.at("cases").at(1).at("ops").at(0);
  EXPECT_EQ(exported_op.at("compared_by"), "group_time");
  EXPECT_EQ(exported_op.at("speed_up").at("factor"), *op.speed_up.factor);
  EXPECT_EQ(exported_op.at("speed_up").at("low"), op.speed_up.interval->low);
  EXPECT_EQ(exported_op.at("group_time").at("median"), op.group_time->median);
  EXPECT_EQ(exported_op.at("group_time").at("unit"), "s");
  ASSERT_EQ(family.at("best").size(), expected.best.size());
  for (std::size_t i = 0; i < expected.best.size(); ++i)
    EXPECT_EQ(family.at("best").at(i).at("case"), expected.best[i].fastest->id);
}

/// Calls visit(key, value) for every member of every object.
void for_each_member(const json& node, const std::function<void(const json&)>& visit) {
  if (node.is_object()) visit(node);
  if (!node.is_structured()) return;
  for (const json& child : node) for_each_member(child, visit);
}

TEST(ExportOfARun, GivesTheReasonOfEveryMissingValueInJson) {
  const test::TemporaryDirectory directory;
  for (const mprof::Run& run : {samples::troubled(), samples::gpu(), samples::healthy()}) {
    static_cast<void>(write_export(run, {{"json"}, directory.path()}));
    std::size_t absent = 0;
    for_each_member(json::parse(read_file(directory.path() / "analysis.json")), [&](const json& node) {
      for (const char* key : {"median", "factor", "change"}) {
        // An expectation's factor is what its author asked for, who need not.
        if (!node.contains(key) || !node.at(key).is_null() || node.contains("direction")) continue;
        ++absent;
        EXPECT_FALSE(node.value("absent", "").empty()) << node;
      }
    });
    EXPECT_GT(absent, 0U);
  }
}

TEST(ExportOfARun, QuotesHostileNames) {
  const test::TemporaryDirectory directory;
  const mprof::Run run = samples::hostile();
  const std::string name = "a\"b\\c,d\ne\x01\xff</script>{}%s";
  const fs::path file = samples::write_traces(samples::traces_of(run, 3, name), directory.path());
  static_cast<void>(write_export(run, {{"perfetto-json", "csv", "json"}, directory.path() / "out", file}));
  const ExportedTimeline timeline(directory.path() / "out/trace.perfetto.json");
  EXPECT_EQ(timeline.processes.begin()->second, format::one_line(run.cases[0].id));
  std::set<std::string> names, cases;
  for (const json& kernel : timeline.slices("kernel")) names.insert(kernel.at("args").at("kernel"));
  EXPECT_TRUE(names.contains(format::one_line(name)));
  names.clear();
  for (const auto& row : read_table(directory.path() / "out/kernels.csv")) {
    names.insert(row.at("Name"));
    cases.insert(row.at("case"));
  }
  EXPECT_TRUE(names.contains(format::one_line(name)));
  EXPECT_TRUE(cases.contains(format::one_line(run.cases[0].id)));
  EXPECT_EQ(read_table(directory.path() / "out/cases.csv").size(), run.cases.size());
  EXPECT_FALSE(json::parse(read_file(directory.path() / "out/analysis.json")).is_discarded());
}

/// A run of one case with these times, by their names.
TrackedRun tracked(const std::vector<std::string>& times, const Estimate& estimate) {
  TrackedRun run{.name = "r", .started = {}, .version = {}, .revision = {}, .cases = {{"map/a@1"}}};
  for (const std::string& name : times) run.cases[0].times.push_back({name, estimate});
  return run;
}

TEST(Trackers, ATimeWithoutAnIntervalIsAValueAlone) {
  const TrackedRun run = tracked({"rows/op_time"}, {.median = 1.25e-6, .samples = 1});
  EXPECT_EQ(json::parse(bmf_json(run)), json({{"map/a@1/rows/op_time", {{"latency", {{"value", 1250.0}}}}}}));
  EXPECT_EQ(
      json::parse(benchmark_action_json(run)),
      json::array(
          {{{"name", "map/a@1/rows/op_time"}, {"unit", "ns"}, {"value", 1250.0}, {"extra", "1 sample"}}}));
}

TEST(Trackers, TheRangeIsTheFartherEndAndWhatDisturbedATimeIsSaid) {
  Estimate time{.median = 2e-6, .interval = Interval{1e-6, 5e-6}, .samples = 20, .rounds = 2};
  time.disturbed = disturbed_in("another process used the GPU: pid 7");
  const json entry = json::parse(benchmark_action_json(tracked({"total_time"}, time))).at(0);
  EXPECT_EQ(entry.at("range"), "± 3000.000");
  EXPECT_EQ(entry.at("extra"),
            "20 samples in 2 rounds\n95 % interval: 1000.000 to 5000.000 ns\n"
            "disturbed: another process used the GPU: pid 7");
}

TEST(Trackers, ANameThatBencherRefusesIsRefusedHere) {
  const std::string longest(1024 - std::string("map/a@1/").size(), 'x');
  EXPECT_NO_THROW(static_cast<void>(bmf_json(tracked({longest}, {.median = 1}))));
  EXPECT_THROW(static_cast<void>(bmf_json(tracked({longest + "x"}, {.median = 1}))), Error);
}

TEST(Trackers, HoldTheTimesOfEachCaseThatIsOkAndOfNoOther) {
  std::size_t all_flawed = 0;
  for (const mprof::Run& run : {samples::troubled(), samples::gpu(), samples::healthy()}) {
    const RunAnalysis analysis = analyse(run);
    const TrackedRun tracked = tracked_run(run, "r", std::vector<std::string>{});
    const json bmf = json::parse(bmf_json(tracked));
    std::size_t times = 0, ok = 0, flawed = 0;
    const auto expect = [&](const std::string& name, const Value& value, bool counts) {
      EXPECT_EQ(bmf.contains(name), value && counts) << name;
      times += value && counts ? 1 : 0;
    };
    for (const FamilyResult& family : analysis.families) {
      for (const VariantResult& variant : family.variants) {
        for (const CaseResult& result : variant.cases) {
          ok += result.ok() ? 1 : 0;
          for (const OpResult& op : result.ops) {
            const std::string name = result.id + "/" + op.info.name;
            flawed += op.flaw == OpTimeFlaw::none ? 0 : 1;
            expect(name + "/op_time", op.op_time, result.ok() && op.flaw == OpTimeFlaw::none);
            expect(name + "/group_time", op.group_time, result.ok());
          }
          expect(result.id + "/total_time", result.total_time, result.ok());
        }
      }
    }
    EXPECT_GT(times, 0U);
    EXPECT_EQ(bmf.size(), times);
    EXPECT_EQ(tracked.cases.size(), ok);
    all_flawed += flawed;
  }
  EXPECT_GT(all_flawed, 0U) << "or the test shows nothing of them";
}

/// Names of ops may differ in nothing that a line shows.
TEST(Trackers, TwoTimesOfOneNameAreRefused) {
  mprof::Run run = samples::healthy();
  const auto renamed = [](const std::string& op) {
    return op == "layer1" ? "op\x01" : op == "layer2" ? "op " : op;
  };
  for (Case& c : run.cases) {
    for (OpInfo& op : c.ops) op.name = renamed(op.name);
    for (PassResult& pass : c.passes) {
      for (Measurement& m : pass.measurements) m.op = renamed(m.op);
    }
  }
  const std::string message = refusal(run, {.formats = {"bmf"}, .out = "/nowhere"});
  EXPECT_NE(message.find("two of its times have the name"), std::string::npos) << message;
}

TEST(CsvFile, QuotesAndCounts) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory.path() / "t.csv";
  CsvFile table(file, {"a", "b"});
  table.text("x, \"y\"").number(0.1).end_row();
  table.nothing().number(std::optional<std::uint32_t>()).end_row();
  EXPECT_FALSE(fs::exists(file)) << "only when it is complete";
  table.commit();
  EXPECT_EQ(read_file(file), "a,b\n\"x, \"\"y\"\"\",0.1\n,\n");
  CsvFile short_row(directory.path() / "short.csv", {"a", "b"});
  EXPECT_THROW(short_row.text("x").end_row(), std::logic_error);
}

TEST(ExportTables, ColumnsAreWhatTheDocumentShows) {
  const fs::path file = fs::path(MPROF_SOURCE_DIR) / "docs/formats/export.md";
  const std::string document = read_file(file),
                    begin = "<!-- made from the lists of columns in report/export -->\n",
                    end = "<!-- end -->\n";
  const std::size_t from = document.find(begin), to = document.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::string expected = document.substr(0, from + begin.size()) + "\n" + run_tables_as_markdown() +
                               trace_tables_as_markdown() + document.substr(to);
  const char* update = std::getenv("MPROF_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1" && expected != document) {
    write_file(file, expected);
    return;
  }
  EXPECT_EQ(document, expected) << "approve the new tables with MPROF_UPDATE_GOLDEN=1";
}

}  // namespace
}  // namespace mprof
