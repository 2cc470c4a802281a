// SPDX-License-Identifier: MIT
// What NCCL attaches to its ranges, from the bytes to the collectives of a rank.
#include "model/trace/nccl_messages.hpp"

#include <cstring>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/trace/collectives.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/nvtx_payload.hpp"
#include "model/trace/program.hpp"
#include "model/trace/range_payloads.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/writer.hpp"
#include "tests/support/fabricated_export.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using testing::ElementsAre;

constexpr std::int64_t nccl_process = trace::nsys::global_process(100);
constexpr std::int64_t nccl_thread = trace::nsys::global_thread(nccl_process, 101);
constexpr std::uint64_t int_type = 5, uint64_type = 18, size_type = 22, another_schema_type = 16'777'240;

template <class Value>
std::string raw_bytes(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

const trace::PayloadSchema schema_of_all_reduce{
    .size = 24,
    .fields = {{uint64_type, 0, 0, "NCCL communicator ID"},
               {size_type, 0, 8, "Message size [bytes]"},
               {another_schema_type, 0, 16, "Reduction operation"}}};
const std::string bytes_of_all_reduce = raw_bytes(std::uint64_t{0xFFFFFFFFFFFFFFF0}) +
                                        raw_bytes(std::uint64_t{25'000'000}) + raw_bytes(std::uint64_t{0});

TEST(NvtxPayload, IsWhatItsSchemaSays) {
  EXPECT_EQ(trace::payload_json(schema_of_all_reduce, bytes_of_all_reduce),
            R"({"NCCL communicator ID":18446744073709551600,"Message size [bytes]":25000000})");
  const trace::PayloadSchema by_alignment{
      .fields = {{12, 0, 0, "a"}, {int_type, 0, 0, "b"}, {20, 0, 0, "c"}}};
  EXPECT_EQ(trace::payload_json(by_alignment, std::string("\7\0\0\0", 4) + raw_bytes(-3) + raw_bytes(0.5)),
            R"({"a":7,"b":-3,"c":0.5})");
}

TEST(NvtxPayload, WhatDoesNotLieWithinItsBytesIsLeftOut) {
  EXPECT_EQ(trace::payload_json(schema_of_all_reduce, bytes_of_all_reduce.substr(0, 15)),
            R"({"NCCL communicator ID":18446744073709551600})");
  EXPECT_EQ(trace::payload_json(schema_of_all_reduce, ""), "");
  EXPECT_EQ(trace::payload_json({}, bytes_of_all_reduce), "");
  EXPECT_EQ(trace::payload_json(
                {.fields = {{size_type, 0, ~std::uint64_t{0}, "far"}, {size_type, 0, 17, "too long"}}},
                bytes_of_all_reduce),
            "");
  constexpr std::uint64_t pointer = 2, fixed_array = 16;
  EXPECT_EQ(trace::payload_json({.fields = {{size_type, pointer, 0, "p"},
                                            {size_type, fixed_array, 8, "a"},
                                            {size_type, 0, 0, "after it"}}},
                                bytes_of_all_reduce),
            "");
}

TEST(NvtxPayload, NoSchemaMakesItReadElsewhere) {
  std::mt19937_64 random(7);
  std::size_t said = 0;
  for (int i = 0; i < 20'000; ++i) {
    trace::PayloadSchema schema{.size = random()};
    for (std::size_t fields = random() % 9; fields > 0; --fields)
      schema.fields.push_back({.type = random() % (i % 2 == 0 ? 48 : ~0ULL),
                               .flags = random() % 4 == 0 ? random() : 0,
                               .offset = random() % (i % 3 == 0 ? 40 : ~0ULL),
                               .name = fmt::format("{}\xff", fields)});
    // On the heap, so that a sanitizer sees each byte too many.
    const std::string bytes(random() % 40, '\x5a');
    const std::string text = trace::payload_json(schema, bytes);
    if (text.empty()) continue;
    ++said;
    ASSERT_TRUE(nlohmann::json::accept(text)) << text;
  }
  EXPECT_GT(said, 1000U);
}

/// One process, whose thread calls NCCL.
class NcclMessages : public testing::Test {
 protected:
  NcclMessages() {
    trace.cases.push_back({.id = "program/x", .process = nccl_process});
    trace.processes.push_back({.id = nccl_process});
  }

  void begin(const std::string& name, const std::string& payload = "") {
    open_.push_back(trace.ranges.size());
    trace.ranges.push_back({.time = {++now_, 0},
                            .thread = nccl_thread,
                            .end_thread = nccl_thread,
                            .name = trace.names.index("NCCL:" + name),
                            .domain = trace.names.index("NCCL"),
                            .payload = trace.names.index(payload)});
  }
  void end() {
    trace.ranges[open_.back()].time.end = ++now_;
    open_.pop_back();
  }
  void pass(const std::string& name, const std::string& payload) {
    begin(name, payload);
    end();
  }
  void launch(const std::string& kind, std::uint32_t stream = 1) {
    now_ += 2;
    trace.calls.push_back({.time = {now_ - 1, now_}, .correlation = ++correlation_, .thread = nccl_thread});
    trace.kernels.push_back({.time = {100 * now_, 100 * now_ + 50},
                             .correlation = correlation_,
                             .process = nccl_process,
                             .name = trace.names.index(fmt::format("ncclDevKernel_{}_RING_LL(x)", kind)),
                             .queue = {0, 1, stream}});
  }
  /// "AllReduce of communicator a (2): 1000"
  [[nodiscard]] static std::vector<std::string> collectives_in(const trace::Trace& all) {
    const trace::Trace own = trace::of_process(all, 0, nccl_process);
    std::vector<std::string> texts;
    for (const trace::Collective& one : trace::collectives_of(own, 0, nccl_process))
      texts.push_back(fmt::format("{} of {} ({}): {}{}", trace::to_string(one.kind), own.names[one.group],
                                  one.group_size, one.bytes, one.is_of_one_rank ? " each" : ""));
    return texts;
  }

  static std::string of(std::uint64_t communicator, std::uint64_t bytes) {
    return fmt::format(R"({{"NCCL communicator ID":{},"Message size [bytes]":{}}})", communicator, bytes);
  }
  static std::string to(std::uint64_t communicator, std::uint64_t bytes, int peer) {
    return fmt::format(R"({{"NCCL communicator ID":{},"Message size [bytes]":{},"Peer rank":{}}})",
                       communicator, bytes, peer);
  }
  void init(std::uint64_t communicator, int ranks) {
    pass("ncclCommInitRankConfig",
         fmt::format(R"({{"NCCL communicator ID":{},"No. of ranks":{},"Rank":0}})", communicator, ranks));
  }

  trace::Trace trace;

 private:
  std::vector<std::size_t> open_;
  std::int64_t now_ = 0, correlation_ = 0;
};

TEST_F(NcclMessages, AKernelHasTheSizeOfTheCallThatLaunchedIt) {
  init(0xA, 2);
  begin("ncclAllReduce", of(0xA, 1000));
  launch("AllReduce_Sum_f32");
  end();
  begin("ncclAllGather", of(0xA, 500));
  launch("AllGather");
  end();
  begin("ncclReduceScatter", of(0xB, 500));
  launch("ReduceScatter_Sum_f32");
  end();
  launch("AllReduce_Sum_f32");
  EXPECT_THAT(collectives_in(trace),
              ElementsAre("AllReduce of communicator a (2): 1000", "AllGather of communicator a (2): 1000",
                          "ReduceScatter of communicator b (0): 500 each", "AllReduce of  (0): 0"));
}

TEST_F(NcclMessages, AGroupsKernelHasAllOfItsCalls) {
  init(0xA, 2);
  begin("ncclGroupStart");
  end();
  pass("ncclAllReduce", of(0xA, 1000));
  begin("ncclGroupStart");
  end();
  pass("ncclAllReduce", of(0xA, 3000));
  begin("ncclGroupEnd");
  end();
  begin("ncclGroupEnd");
  launch("AllReduce_Sum_f32");
  end();
  EXPECT_THAT(collectives_in(trace), ElementsAre("AllReduce of communicator a (2): 4000"));
}

TEST_F(NcclMessages, SeveralKernelsOfAGroupHaveSizesWhereAllCallsAreAlike) {
  for (const std::uint64_t second : {1000U, 2000U}) {
    begin("ncclGroupStart");
    end();
    pass("ncclAllReduce", of(0xA, 1000));
    pass("ncclAllReduce", of(0xA, second));
    begin("ncclGroupEnd");
    launch("AllReduce_Sum_f32");
    launch("AllReduce_Sum_f32");
    end();
  }
  EXPECT_THAT(collectives_in(trace),
              ElementsAre("AllReduce of communicator a (0): 1000", "AllReduce of communicator a (0): 1000",
                          "AllReduce of communicator a (0): 0", "AllReduce of communicator a (0): 0"));
}

TEST_F(NcclMessages, CallsOfSeveralCommunicatorsInAGroupAreNotTold) {
  begin("ncclGroupStart");
  end();
  pass("ncclAllReduce", of(0xA, 1000));
  pass("ncclAllReduce", of(0xB, 1000));
  begin("ncclGroupEnd");
  launch("AllReduce_Sum_f32");
  end();
  EXPECT_THAT(collectives_in(trace), ElementsAre("AllReduce of  (0): 0"));
}

TEST_F(NcclMessages, WhoSendsToAllExchangesWithAll) {
  init(0xA, 2);
  for (const bool to_all : {true, false}) {
    begin("ncclGroupStart");
    end();
    for (int peer = to_all ? 0 : 1; peer < 2; ++peer) {
      pass("ncclSend", to(0xA, 1000, peer));
      pass("ncclRecv", to(0xA, 1000, peer));
    }
    begin("ncclGroupEnd");
    launch("SendRecv");
    end();
  }
  EXPECT_THAT(collectives_in(trace),
              ElementsAre("AllToAll of communicator a (2): 2000", "Send/Recv of communicator a (2): 1000"));
}

TEST_F(NcclMessages, PayloadsThatAreNoneAreNotBelieved) {
  for (const char* payload : {"no JSON", "[1]", R"({"Message size [bytes]":-5,"NCCL communicator ID":"x"})",
                              R"({"Message size [bytes]":1e300})", ""}) {
    begin("ncclAllReduce", payload);
    launch("AllReduce_Sum_f32");
    end();
  }
  EXPECT_THAT(collectives_in(trace),
              testing::AllOf(testing::SizeIs(5), testing::Each("AllReduce of  (0): 0")));
}

TEST_F(NcclMessages, AFileKeepsThem) {
  init(0xA, 2);
  begin("ncclAllReduce", of(0xA, 1000));
  launch("AllReduce_Sum_f32");
  end();
  const test::TemporaryDirectory folder;
  trace.cases.front().window = {0, 10'000};
  trace::write_trace(folder.path() / trace::file_name, trace);
  trace::Trace again = trace::read_trace(folder.path() / trace::file_name);
  EXPECT_THAT(collectives_in(again), ElementsAre("AllReduce of communicator a (2): 1000"));
}

TEST(RangePayloads, AreFoundByOrderAndElseByTime) {
  trace::Trace trace;
  const auto add = [&](std::int64_t start, std::int64_t end) {
    trace.ranges.push_back({.time = {start, end},
                            .thread = nccl_thread,
                            .end_thread = nccl_thread,
                            .name = trace.names.index("NCCL:x"),
                            .domain = trace.names.index("NCCL")});
  };
  for (const std::int64_t start : {1'000'000, 1'001'000, 1'002'000, 2'000'000, 3'000'000, 4'000'000})
    add(start, start + 500'000);
  journal::Journal journal{.head = {.process = 100}};
  journal.schemas[{1, 2}] = {.fields = {{int_type, 0, 0, "n"}}};
  const auto attach = [&](std::int64_t time, std::uint64_t number, int value, bool is_end = false) {
    journal.payloads.emplace_back(journal::Payload{.time = time,
                                                   .domain = 1,
                                                   .schema = 2,
                                                   .number = number,
                                                   .thread = 101,
                                                   .is_end = is_end ? 1U : 0U},
                                  raw_bytes(value));
  };
  attach(1'002'000, 2, 22);        // microseconds late: the second one, though the third is nearer
  attach(2'000'100, 9, 44);        // records were lost: by its time
  attach(4'300'000, 6, 66);        // its thread was held
  attach(3'500'050, 0, 55, true);  // at its end
  attach(90'000'000, 3, 99);       // of no range
  trace::add_payloads(trace, journal);
  std::vector<std::string> payloads;
  for (const trace::Range& range : trace.ranges) payloads.push_back(trace.names[range.payload]);
  EXPECT_THAT(payloads, ElementsAre("", R"({"n":22})", "", R"({"n":44})", R"({"n":55})", R"({"n":66})"));
}

/// As Nsight Systems exports payloads: bytes, and tables that say what they mean.
TEST(NsightPayloads, AreReadFromBytesAndSchemas) {
  const test::TemporaryDirectory folder;
  const auto file = folder.path() / "export.sqlite";
  test::write_export(file, {.version = "3.25.0"});
  {
    sqlite::Database database(file, sqlite::Mode::write);
    database.execute("ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData TEXT");
    database.execute(
        "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, flags, type, name, "
        "description, arrayOrUnionDetail, offset)");
    database.execute(
        "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES "
        "(4, 16777221, 1, NULL, 22, 'Message size [bytes]', NULL, NULL, 8), "
        "(4, 16777221, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL, NULL), "
        "(4, 16777221, 2, NULL, 22, 'far', NULL, NULL, 99999999999), "
        "(4, 16777222, 0, NULL, 77, NULL, NULL, NULL, -5)");
    database.execute(
        fmt::format("INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES "
                    "(1, 75, 'NCCL', {}, 9)",
                    nccl_process));
    const auto add = [&](std::int64_t start, std::uint64_t schema, std::uint64_t claimed, bool as_text) {
      const std::string data = raw_bytes(std::uint64_t{4}) + raw_bytes(schema) + raw_bytes(claimed) +
                               raw_bytes(claimed + 32) + bytes_of_all_reduce;
      std::string digits;
      for (const char c : data) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
      database.execute(fmt::format(
          "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, binaryData) "
          "VALUES ({}, {}, 59, 'ncclAllReduce', {}, 9, {}'{}')",
          start, start + 5, nccl_thread, as_text ? "" : "x", digits));
    };
    add(1010, 16777221, 24, false);
    add(1020, 16777221, 24, true);
    add(1030, 16777221, 1ULL << 60U, false);
    add(1040, 16777222, 24, false);
    add(1050, 5, 24, false);
  }
  const trace::Trace read = trace::read_trace(file);
  std::vector<std::string> payloads;
  for (const trace::Range& range : read.ranges) {
    if (read.names[range.domain] == "NCCL") payloads.push_back(read.names[range.payload]);
  }
  constexpr const char* said =
      R"({"NCCL communicator ID":18446744073709551600,"Message size [bytes]":25000000})";
  EXPECT_THAT(payloads, ElementsAre(said, said, "", "", ""));
}

}  // namespace
}  // namespace mprof
