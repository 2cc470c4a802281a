// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "model/trace/joiner.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/writer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using trace::Trace;

/// A case whose process calls its only GPU 0, as all processes do that see one alone.
Trace one_case(const std::string& id, std::uint32_t pid, const std::string& uuid) {
  Trace trace;
  trace.epoch = 1'700'000'000'000'000'000 + pid;
  const std::int64_t process = trace::nsys::global_process(pid);
  trace.cases = {{.id = id, .process = process, .window = {0, 100}}};
  trace.kernels.push_back(
      {.time = {10, 20}, .correlation = 1, .process = process, .name = trace.names.index("k"), .in_case = 0});
  trace.gpus = {{.id = 0, .name = "NVIDIA H200", .uuid = "GPU-" + uuid, .multiprocessors = 132}};
  return trace;
}

/// What a consumer of the file finds: the GPU of a process, by the way that NVIDIA's tools go.
std::string gpu_of(const fs::path& file, int pid) {
  const sqlite::Database database(file, sqlite::Mode::read);
  sqlite::Statement row = database.prepare(
      "SELECT g.uuid FROM TARGET_INFO_CUDA_DEVICE d JOIN TARGET_INFO_GPU g ON g.id = d.gpuId WHERE d.pid = ? "
      "AND "
      "d.uuid = g.uuid");
  return row.bind(pid).step() ? row.only_text() : "none";
}

void expect_both(const fs::path& file) {
  EXPECT_EQ(gpu_of(file, 100), "aa");
  EXPECT_EQ(gpu_of(file, 200), "bb");
  const Trace both = trace::read_trace(file, {.parts = {.kernels = true}});
  ASSERT_EQ(both.gpus.size(), 2U);
  ASSERT_EQ(both.kernels.size(), 2U);
  EXPECT_NE(both.kernels[0].queue.device, both.kernels[1].queue.device);
  const Trace second = trace::read_trace(file, {.parts = {.kernels = true}, .cases = {"b"}});
  ASSERT_EQ(second.gpus.size(), 1U);
  EXPECT_EQ(second.gpus[0].uuid, "bb");
  EXPECT_EQ(second.gpus[0].id, 0U) << "as its process calls it";
  EXPECT_EQ(second.kernels.at(0).queue.device, 0U);
}

TEST(GpusTest, CasesOfSeveralGpusInOneFileKeepTheirs) {
  const test::TemporaryDirectory folder;
  const fs::path file = folder.path() / "trace.sqlite";
  trace::write_trace(file, one_case("a", 100, "aa"));
  trace::write_trace(file, one_case("b", 200, "bb"));
  expect_both(file);
  const Trace exported = trace::read_trace(file, {.parts = {.kernels = true}, .cases = {"b"}});
  trace::write_export(folder.path() / "b.sqlite", exported);
  EXPECT_EQ(gpu_of(folder.path() / "b.sqlite", 200), "bb");
  trace::write_trace(file, one_case("c", 300, "aa"));
  EXPECT_EQ(gpu_of(file, 300), "aa");
  EXPECT_EQ(trace::read_trace(file, {.parts = {}}).gpus.size(), 2U);
}

TEST(GpusTest, MergedFilesKeepARowForEachGpu) {
  const test::TemporaryDirectory folder;
  trace::write_trace(folder.path() / "a.sqlite", one_case("a", 100, "aa"));
  trace::write_trace(folder.path() / "b.sqlite", one_case("b", 200, "bb"));
  trace::add_cases({folder.path() / "a.sqlite", folder.path() / "b.sqlite"}, folder.path() / "both.sqlite");
  expect_both(folder.path() / "both.sqlite");
}

TEST(GpusTest, MergedFilesOfEarlierVersionsNameTheTrueGpu) {
  const test::TemporaryDirectory folder;
  const fs::path file = folder.path() / "trace.sqlite";
  trace::write_trace(file, one_case("a", 100, "aa"));
  trace::write_trace(file, one_case("b", 200, "bb"));
  sqlite::Database(file, sqlite::Mode::write)
      .execute("DELETE FROM TARGET_INFO_GPU WHERE uuid = 'bb'; UPDATE TARGET_INFO_CUDA_DEVICE SET gpuId = 0");
  const Trace second = trace::read_trace(file, {.parts = {.kernels = true}, .cases = {"b"}});
  ASSERT_EQ(second.gpus.size(), 1U);
  EXPECT_EQ(second.gpus[0].uuid, "bb");
  EXPECT_EQ(second.gpus[0].name, "NVIDIA H200");
}

}  // namespace
}  // namespace mprof
