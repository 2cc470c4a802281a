// SPDX-License-Identifier: MIT
#include "collectors/cuda/injected_trace.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <cupti_version.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injection/journal_writer.hpp"
#include "injection/records.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/program.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using injection::Chunk;
using injection::JournalWriter;

constexpr const char* scale = "_Z5scalePf";
constexpr std::uint32_t launch_call = 211;

/// Writes fabricated records to journals as the library in a process does, and reads them.
class InjectedTrace : public ::testing::Test {
 protected:
  template <class Record>
  static void add(Record& record, JournalWriter& journal, Chunk& chunk) {
    EXPECT_TRUE(
        injection::add_record(reinterpret_cast<CUpti_Activity&>(record), sizeof record, journal, chunk));
  }

  /// A call at `start` on a thread, and the kernel that it launched.
  static void launch(JournalWriter& journal, std::uint32_t id, std::uint64_t start,
                     const char* name = scale) {
    Chunk chunk;
    CUpti_ActivityAPI call{};
    call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    call.cbid = launch_call;
    call.start = start;
    call.end = start + 5;
    call.threadId = 1;
    call.correlationId = id;
    add(call, journal, chunk);
    chunk.add_value(journal::Kind::call, journal::Call{0, launch_call}, "cudaLaunchKernel_v7000");
    const std::string text = name;  // gone when the journal is read
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = start + 10;
    kernel.end = start + 30;
    kernel.correlationId = id;
    kernel.gridX = 4;
    kernel.gridY = kernel.gridZ = 1;
    kernel.name = text.c_str();
    add(kernel, journal, chunk);
    chunk.add_value(journal::Kind::until, static_cast<std::int64_t>(start + 100));
    journal.write(chunk);
  }

  static void mark(JournalWriter& journal, std::uint32_t id, std::uint64_t time, const char* name) {
    Chunk chunk;
    CUpti_ActivityMarker2 marker{};
    marker.kind = CUPTI_ACTIVITY_KIND_MARKER;
    marker.flags = name != nullptr ? CUPTI_ACTIVITY_FLAG_MARKER_START : CUPTI_ACTIVITY_FLAG_MARKER_END;
    marker.timestamp = time;
    marker.id = id;
    marker.objectId.pt.threadId = 1;
    marker.name = name;
    add(marker, journal, chunk);
    journal.write(chunk);
  }

  static void end(JournalWriter& journal) {
    Chunk chunk;
    chunk.add(journal::Kind::end, {});
    journal.write(chunk);
  }

  [[nodiscard]] InjectedPass read() const {
    return read_injected_trace(journal::read_journals(folder.path()));
  }

  test::TemporaryDirectory folder;
};

TEST_F(InjectedTrace, RecordsComeBackWithTheirTexts) {
  JournalWriter journal(folder.path().c_str(), CUPTI_API_VERSION);
  launch(journal, 1, 1000);
  launch(journal, 2, 2000);
  end(journal);
  const InjectedPass pass = read();
  EXPECT_TRUE(pass.notes.empty());
  EXPECT_EQ(pass.dropped, 0U);
  ASSERT_EQ(pass.trace.kernels.size(), 2U);
  const trace::Kernel& kernel = pass.trace.kernels[1];
  EXPECT_EQ(pass.trace.names[kernel.short_name], "scale");
  EXPECT_EQ(kernel.time, (trace::Interval{2010, 2030}));
  EXPECT_EQ((*kernel.grid)[0], 4);
  EXPECT_EQ(pass.trace.names[pass.trace.calls[0].name], "cudaLaunchKernel");
}

TEST_F(InjectedTrace, ADeviceBecomesAGpuInSiUnits) {
  JournalWriter journal(folder.path().c_str(), CUPTI_API_VERSION);
  Chunk chunk;
  CUpti_ActivityDevice5 device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.name = "NVIDIA H200";
  device.coreClockRate = 1'980'000;
  device.globalMemoryBandwidth = 4'900'000'000;
  device.numMultiprocessors = 132;
  add(device, journal, chunk);
  journal.write(chunk);
  const InjectedPass pass = read();
  ASSERT_EQ(pass.trace.gpus.size(), 1U);
  EXPECT_EQ(pass.trace.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(pass.trace.gpus[0].clock_rate, 1'980'000'000U);
  EXPECT_EQ(pass.trace.gpus[0].memory_bandwidth, 4'900'000'000'000U);
  EXPECT_EQ(pass.trace.gpus[0].multiprocessors, 132U);
}

TEST_F(InjectedTrace, AKillLeavesWhatWasWrittenAndANote) {
  {
    JournalWriter journal(folder.path().c_str(), CUPTI_API_VERSION);
    mark(journal, 1, 900, "training");
    launch(journal, 1, 1000);
    launch(journal, 2, 2000);
  }
  const std::filesystem::path file = std::filesystem::directory_iterator(folder.path())->path();
  const std::size_t all = std::filesystem::file_size(file);
  for (std::size_t size = sizeof(journal::Head); size < all; ++size) {  // wherever it was cut
    const std::filesystem::path cut = folder.path() / "cut";
    std::filesystem::create_directory(cut);
    write_file(cut / file.filename(), read_file(file).substr(0, size));
    EXPECT_LE(read_injected_trace(journal::read_journals(cut)).trace.kernels.size(), 2U);
    std::filesystem::remove_all(cut);
  }
  const InjectedPass pass = read();
  EXPECT_EQ(pass.trace.kernels.size(), 2U);
  ASSERT_EQ(pass.trace.ranges.size(), 1U);
  EXPECT_EQ(pass.trace.ranges[0].time, (trace::Interval{900, 2100}));  // open until the last flush
  ASSERT_EQ(pass.notes.size(), 1U);
  EXPECT_NE(pass.notes[0].find("without running its exit handlers"), std::string::npos);
}

TEST_F(InjectedTrace, ProcessesAreToldApartAndMakeOneCase) {
  JournalWriter journal(folder.path().c_str(), CUPTI_API_VERSION);
  launch(journal, 1, 1000);
  end(journal);
  const pid_t child = ::fork();
  if (child == 0) {
    launch(journal, 9, 1);  // of the parent's journal, which a fork does not write to
    JournalWriter own(folder.path().c_str(), CUPTI_API_VERSION);
    mark(own, 1, 1490, "child's");
    launch(own, 1, 1500, "_Z4tilePf");
    mark(own, 1, 1600, nullptr);
    end(own);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  InjectedPass pass = read();
  ASSERT_EQ(pass.trace.kernels.size(), 2U);
  EXPECT_NE(pass.trace.kernels[0].process, pass.trace.kernels[1].process);
  EXPECT_EQ(pass.trace.processes.size(), 2U);
  const std::vector<std::string> ops = trace::make_program_case(pass.trace, {.case_id = "program/two"});
  EXPECT_EQ(ops, (std::vector<std::string>{"child's", trace::outside_of_ranges}));
  const auto place = [&](const trace::Kernel& kernel) { return pass.trace.places[kernel.place].op; };
  EXPECT_EQ(place(pass.trace.kernels[0]), trace::outside_of_ranges);
  EXPECT_EQ(place(pass.trace.kernels[1]), "child's");
}

/// The library is told of a range a little after CUPTI has taken its time: of steps 2 and 3, no piece of the
/// fourth is left.
TEST_F(InjectedTrace, AWindowOfStepsBeginsAndEndsWithTheirRanges) {
  JournalWriter journal(folder.path().c_str(), CUPTI_API_VERSION);
  for (std::uint32_t step = 1; step <= 5; ++step) {
    mark(journal, step, step * 1000, "step");
    if (step == 2 || step == 3) launch(journal, step, step * 1000 + 100);
    mark(journal, step, step * 1000 + 900, nullptr);
  }
  Chunk chunk;
  chunk.add_value(journal::Kind::until, std::int64_t{6000});
  chunk.add_value(journal::Kind::window, journal::WindowEdge{.time = 2040, .opens = 1, .thread = 1});
  chunk.add_value(journal::Kind::window, journal::WindowEdge{.time = 4040, .opens = 0, .thread = 1});
  journal.write(chunk);
  end(journal);
  InjectedPass pass = read();
  ASSERT_TRUE(pass.part);
  EXPECT_EQ(pass.part->start, 2000);
  EXPECT_EQ(pass.part->end, 4000);
  EXPECT_EQ(pass.trace.kernels.size(), 2U);
  EXPECT_EQ(trace::make_program_case(pass.trace, {.case_id = "program/x", .part = pass.part}),
            std::vector<std::string>{"step"});
  std::vector<std::int64_t> lengths;
  for (const trace::Range& range : pass.trace.ranges) {
    if (range.style == trace::RangeStyle::push_pop) lengths.push_back(range.time.length());
  }
  EXPECT_EQ(lengths, (std::vector<std::int64_t>{900, 900}));
}

TEST_F(InjectedTrace, AProcessIsTheRankThatItsLauncherSays) {
  struct Launched {
    const char* rank;
    const char* size;
    std::optional<std::uint32_t> read;
  };
  // A rank beyond the world, and what is no number, is none.
  for (const auto& [rank, size, expected] :
       {Launched{"3", "8", 3}, Launched{"8", "8", std::nullopt}, Launched{"3x", "8", std::nullopt},
        Launched{"", "8", std::nullopt}}) {
    const test::TemporaryDirectory own;
    ::setenv("RANK", rank, 1);
    ::setenv("WORLD_SIZE", size, 1);
    {
      JournalWriter journal(own.path().c_str(), CUPTI_API_VERSION);
      launch(journal, 1, 1000);
      end(journal);
    }
    ::unsetenv("RANK");
    ::unsetenv("WORLD_SIZE");
    InjectedPass pass = read_injected_trace(journal::read_journals(own.path()));
    (void)trace::make_program_case(pass.trace, {.case_id = "program/x"});
    ASSERT_EQ(pass.trace.processes.size(), 1U);
    EXPECT_EQ(pass.trace.processes[0].rank, expected) << rank;
    EXPECT_EQ(pass.trace.processes[0].world_size, expected ? std::optional(8U) : std::nullopt) << rank;
  }
}

TEST_F(InjectedTrace, RecordsOfAnotherCuptiAreNotRead) {
  JournalWriter journal(folder.path().c_str(), CUPTI_API_VERSION + 100);
  launch(journal, 1, 1000);
  journal.note("The process has a CUPTI of another version.");
  const InjectedPass pass = read();
  EXPECT_TRUE(pass.trace.kernels.empty());
  ASSERT_EQ(pass.notes.size(), 1U);
}

TEST_F(InjectedTrace, WhatIsNoJournalIsRefused) {
  std::ofstream(folder.path() / "x.journal") << std::string(100, 'x');
  EXPECT_THROW(static_cast<void>(read()), Error);
}

/// The library itself: without mprof it does nothing; without a driver it says why it cannot, and the process
/// goes on.
TEST_F(InjectedTrace, TheLibraryNotesWhatItCannotDo) {
  const auto exit_code_in_child = [&](bool of_mprof) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (of_mprof) ::setenv(journal::folder_variable, folder.path().c_str(), 1);
      void* const library = ::dlopen(MPROF_TRACE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) ::_exit(1);
      auto* const initialize = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
      auto* const nvtx = reinterpret_cast<int (*)(void*)>(::dlsym(library, "InitializeInjectionNvtx2"));
      const bool went_on = initialize() == 1 && initialize() == 1;
      const bool leaves_nvtx = of_mprof || nvtx(nullptr) == 0;
      ::_exit(went_on && leaves_nvtx ? 0 : 2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  };
  EXPECT_EQ(exit_code_in_child(false), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(exit_code_in_child(true), 0);
  const std::vector<journal::Journal> journals = journal::read_journals(folder.path());
  ASSERT_EQ(journals.size(), 1U);
  EXPECT_FALSE(journals[0].name.empty());
  if (!std::filesystem::exists("/dev/nvidiactl")) {
    ASSERT_FALSE(journals[0].notes.empty());
    EXPECT_NE(journals[0].notes[0].find("CUPTI could not"), std::string::npos) << journals[0].notes[0];
  }
}

}  // namespace
}  // namespace mprof
