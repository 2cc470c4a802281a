// SPDX-License-Identifier: MIT
#include "runner/source/build.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "kernels/plugin.hpp"
#include "kernels/sources.hpp"
#include "runner/source/recorded_flags.hpp"
#include "runner/source/sources.hpp"
#include "system/clock.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<std::string>;

TEST(Dependencies, AreWhatStandsBehindTheTarget) {
  EXPECT_EQ(dependencies_of("a.o: b.cpp c.hpp \\\n d.hpp\n"), (Files{"b.cpp", "c.hpp", "d.hpp"}));
  EXPECT_EQ(dependencies_of("/a b/x.so : /a\\ b/x.cu \\\n    /c\\#d$$e.h\n"),
            (Files{"/a b/x.cu", "/c#d$e.h"}));
  EXPECT_EQ(dependencies_of(""), Files{});
  EXPECT_EQ(dependencies_of("no rule"), Files{});
}

TEST(NamesOfSources, AreTheirFilesOrTheirFolders) {
  EXPECT_EQ(names_of({"/x/my idea.cu", "b.cpp"}), (Files{"my_idea", "b"}));
  EXPECT_EQ(names_of({"/x/op_1/m3-forward.cu", "/x/op_2/m3-forward.cu", "/x/own.cu"}),
            (Files{"op_1", "op_2", "own"}));
  EXPECT_THROW(static_cast<void>(names_of({"/x/a/f.cu", "/y/a/f.cu"})), Error);
  EXPECT_THROW(static_cast<void>(names_of({"/x/a/f.cu", "/y/b/f.cu", "/y/a.cu"})), Error);
}

TEST(RecordedFlags, AreTakenWhereTheySayHowCodeIsCompiled) {
  for (const Files& flags :
       {Files{}, Files{"-O2", "-g", "-std=c++23", "-march=native", "-mavx2", "-ffast-math", "-fopenmp"},
        Files{"-lcublas", "-L/opt/cuda/lib64", "-I", "/opt/headers", "-isystem", "x", "-DN=4", "-D", "M"},
        Files{"-arch=sm_90", "-gencode", "arch=compute_90,code=sm_90", "--use_fast_math", "-Xptxas=-O3"},
        Files{"-Wall", "-Wno-error=unused-value", "-maxrregcount", "64"}})
    EXPECT_EQ(refused_flag(flags), std::nullopt);
}

TEST(RecordedFlags, AreRefusedWhereTheyCanDoMore) {
  for (const Files& flags : {Files{"-wrapper", "x.sh"},
                             Files{"-fplugin=x.so"},
                             Files{"-fplugin-arg-x-y"},
                             Files{"-B", "x"},
                             Files{"-Bx"},
                             Files{"-specs=x"},
                             Files{"--specs=x"},
                             Files{"@x"},
                             Files{"-Xcompiler", "-wrapper"},
                             Files{"-Xcompiler=-Bx"},
                             Files{"-Xclang", "-load"},
                             Files{"-Xlinker", "x"},
                             Files{"-Xpreprocessor", "x"},
                             Files{"-Xassembler", "x"},
                             Files{"-Wl,-plugin,x"},
                             Files{"-Wa,x"},
                             Files{"-Wp,-x"},
                             Files{"-fuse-ld=x"},
                             Files{"--ld-path=x"},
                             Files{"-ccbin", "x"},
                             Files{"--compiler-bindir=x"},
                             Files{"-fmodule-mapper=|x"},
                             Files{"-mllvm", "-load=x"},
                             Files{"-o", "x"},
                             Files{"-ox"},
                             Files{"-x", "c"},
                             Files{"--options-file", "x"},
                             Files{"-optf", "x"},
                             Files{"-fdump-tree-all=x"},
                             Files{"-fprofile-use=x"},
                             Files{"-save-temps"},
                             Files{"-include", "x"},
                             Files{"--sysroot=x"},
                             Files{"-isysroot", "x"},
                             Files{"-gcc-toolchain"},
                             Files{"-I", "@x"},
                             Files{"-I", "-wrapper"},
                             Files{"-D"},
                             Files{"-DX=$(x)"},
                             Files{"-DX=`x`"},
                             Files{"-DX=\"x\""},
                             Files{"-I/x;y"},
                             Files{"-L/x y"},
                             Files{"x.cpp"},
                             Files{"x.o"},
                             Files{""},
                             Files{"-run"},
                             Files{"--run-args", "x"},
                             Files{"-dc"},
                             Files{"-MF", "x"},
                             Files{"-fuse-ld=/x"}})
    EXPECT_NE(refused_flag(flags), std::nullopt) << flags.front();
  EXPECT_EQ(refused_flag({"-O2", "-B", "x"}), "-B");
}

TEST(PathsOfSources, ThatAShellWouldRunAreKnown) {
  for (const char* path : {"/a$(x).cu", "/a`x`.cu", "/a\"b.cu", "/a\\b.cu", "/a\nb.cu", "/$HOME/a.cu"})
    EXPECT_TRUE(is_for_a_shell(path)) << path;
  for (const char* path : {"/with blanks/a.cu", "/a;b/c'd/(e)&f/*.cu"})
    EXPECT_FALSE(is_for_a_shell(path)) << path;
}

class Build : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("MPROF_CACHE", (directory.path() / "cache of libraries").c_str(), 1); }

  BuiltLibrary build(const std::vector<std::string>& flags = {}) {
    const LibraryFolder folder;
    return build_library(source, {.flags = flags}, folder, steady_clock());
  }

  mprof::test::TemporaryDirectory directory;
  fs::path source = directory.path() / "with blanks" / "my idea.cpp";
};

TEST_F(Build, IsDoneOnceForTheSameTextHeadersAndFlags) {
  write_file(source, "#include \"own.h\"\nint value() { return own; }\n");
  write_file(source.parent_path() / "own.h", "constexpr int own = 1;\n");
  const BuiltLibrary first = build();
  EXPECT_FALSE(first.was_kept);
  EXPECT_TRUE(fs::exists(first.library));
  const BuiltLibrary again = build();
  EXPECT_TRUE(again.was_kept);
  EXPECT_EQ(again.library, first.library);
  EXPECT_EQ(again.checksum, first.checksum);

  const BuiltLibrary otherwise = build({"-DOTHER"});
  EXPECT_FALSE(otherwise.was_kept);
  EXPECT_NE(otherwise.checksum, first.checksum);

  write_file(source.parent_path() / "own.h", "constexpr int own = 2;\n");
  const BuiltLibrary changed = build();
  EXPECT_FALSE(changed.was_kept);
  EXPECT_NE(changed.checksum, first.checksum);
}

TEST_F(Build, IsDoneAgainWhereWhatWasKeptIsDamaged) {
  write_file(source, "int value() { return 1; }\n");
  const BuiltLibrary first = build();
  const std::string whole = read_file(first.library);
  write_file(first.library, whole.substr(0, whole.size() / 2));
  EXPECT_FALSE(build().was_kept);
  EXPECT_EQ(read_file(first.library), whole);
  write_file(first.library.parent_path() / "depends-on", "no manifest\n");
  EXPECT_FALSE(build().was_kept);
  EXPECT_TRUE(build().was_kept);
}

TEST_F(Build, ThatFailsShowsWhatTheCompilerWroteAndKeepsNothing) {
  write_file(source, "int value() { return undeclared; }\n");
  try {
    static_cast<void>(build());
    FAIL() << "it was compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    const std::string message = error.what();
    EXPECT_NE(message.find(source.string() + ":1:"), std::string::npos) << message;
    EXPECT_NE(message.find("undeclared"), std::string::npos) << message;
  }
  EXPECT_TRUE(fs::is_empty(directory.path() / "cache of libraries" / "libraries"));
}

TEST_F(Build, OfARecordIsDoneOnlyForItsChecksum) {
  write_file(source, "int value() { return 1; }\n");
  const auto of_record = [&](const std::string& expected, const std::vector<std::string>& flags = {}) {
    const LibraryFolder folder;
    bool compiled = false;
    BuiltLibrary built =
        build_library(source, {.flags = flags, .on_compile = [&] { compiled = true; }, .expected = expected},
                      folder, steady_clock());
    EXPECT_EQ(compiled, !built.library.empty());
    return built;
  };
  const BuiltLibrary other = of_record("sha256:0");
  EXPECT_TRUE(other.library.empty());
  EXPECT_TRUE(fs::is_empty(directory.path() / "cache of libraries" / "libraries"));
  const BuiltLibrary same = of_record(other.checksum);
  EXPECT_TRUE(fs::exists(same.library));
  EXPECT_EQ(build().checksum, same.checksum) << "what a user asks for has the checksum that its record gets";
}

TEST_F(Build, OfARecordStartsNoProgramThatItsFlagsName) {
  write_file(source, "int value() { return 1; }\n");
  const fs::path wrapper = directory.path() / "wrapper.sh", ran = directory.path() / "ran";
  write_file(wrapper, "#!/bin/sh\ntouch '" + ran.string() + "'\nexec \"$@\"\n");
  fs::permissions(wrapper, fs::perms::owner_all);
  const LibraryFolder folder;
  try {
    static_cast<void>(build_library(source, {.flags = {"-wrapper", wrapper.string()}, .expected = "sha256:0"},
                                    folder, steady_clock()));
    FAIL() << "the flag was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("with -wrapper"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(fs::exists(ran));
}

TEST_F(Build, IsKeptForThisUserAlone) {
  write_file(source, "int value() { return 1; }\n");
  static_cast<void>(build());
  const fs::path root = directory.path() / "cache of libraries";
  for (const fs::path& folder : {root, root / "libraries"}) {
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(folder, others, fs::perm_options::add);
      const LibraryFolder now;
      EXPECT_NE(now.temporary_because().find("others may write there"), std::string::npos);
      EXPECT_NE(now.path(), root / "libraries");
      fs::permissions(folder, others, fs::perm_options::remove);
    }
  }
  EXPECT_EQ(LibraryFolder().temporary_because(), "");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a folder another user's";
  ASSERT_EQ(::chown((root / "libraries").c_str(), 65534, 65534), 0);
  EXPECT_NE(LibraryFolder().temporary_because().find("belongs to another user"), std::string::npos);
}

/// What is wrong with a library of this source.
std::string refusal(const fs::path& library) {
  try {
    const Plugin plugin(library);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

TEST_F(Build, OfAnotherVersionOfTheBoundaryIsRefusedByName) {
  const auto with_version = [&](const std::string& version) {
    write_file(source,
               "#include <mprof/plugin.h>\nextern \"C\" __attribute__((visibility(\"default\"))) uint32_t "
               "mprof_abi_version() { return " +
                   version + "; }\n");
    const BuiltLibrary built = build();
    const std::string message = refusal(built.library);
    EXPECT_EQ(message.find(built.library.string()), 0U) << message;
    return message;
  };
  EXPECT_NE(with_version("MPROF_ABI_VERSION + 1").find("of version 2"), std::string::npos);
  EXPECT_NE(with_version("MPROF_ABI_VERSION").find("mprof_plugin() is missing"), std::string::npos);
  write_file(source, "int value() { return 1; }\n");
  EXPECT_NE(refusal(build().library).find("no function mprof_abi_version()"), std::string::npos);
  EXPECT_NE(refusal("/nowhere/at/all.so").find("cannot be loaded"), std::string::npos);
}

TEST_F(Build, OfADeclarationThatCannotBeIsRefused) {
  const auto declared = [&](const std::string& fields) {
    write_file(source, "#include <mprof/variant.hpp>\nMPROF_VARIANT(" + fields + ")\n");
    return refusal(build().library);
  };
  EXPECT_NE(declared(".title = \"x\", .device = \"cpu\"").find("no family"), std::string::npos);
  EXPECT_NE(declared(".family = \"f\", .device = \"cpu\"").find("no title"), std::string::npos);
  EXPECT_NE(declared(".family = \"f\", .title = \"x\", .device = \"tpu\"").find("\"tpu\""),
            std::string::npos);
  EXPECT_NE(declared(".family = \"f\", .title = \"x\", .device = \"cpu\", .tolerance = 0.5")
                .find("tolerance of 0.5"),
            std::string::npos);
  EXPECT_NE(
      declared(
          ".family = \"f\", .title = \"x\", .device = \"cpu\", .parameters = {{\"p\", \"\", \"1\", {\"2\"}}}")
          .find("default of its parameter p"),
      std::string::npos);
  EXPECT_EQ(declared(".family = \"f\", .title = \"x\", .device = \"cpu\""), "");
}

int launches = 0;

/// The real compiler and its linker, without a GPU: a launch fails, and is counted before.
TEST_F(Build, ByNvccCountsEachLaunchOnce) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "nvcc was not found";
  ::unsetenv("CUDA_HOME");
  source.replace_extension(".cu");
  write_file(source, R"(#include <mprof/variant.hpp>
__global__ void nothing() {}
struct Launches : mprof::plugin::Op {
  void prepare(const mprof::plugin::Task&) override {}
  void forward() override {
    nothing<<<1, 1>>>();
    cudaLaunchKernel(reinterpret_cast<const void*>(&nothing), dim3(1), dim3(1), nullptr, 0, nullptr);
  }
  void finish() override {}
};
MPROF_VARIANT(.family = "f", .title = "x", .device = "cuda",
              .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Launches>(); })
)");
  tell_of_plugin_launches([](const void*, mprof_kernel_name) { ++launches; });
  PluginOp op(std::make_shared<const Plugin>(build().library), {});
  op.forward();
  EXPECT_EQ(launches, 2);
}

TEST(FirstVariants, AreThereForEachFamilyAndDevice) {
  for (const char* family : {"conv", "elementwise"}) {
    for (const char* device : {"cpu", "cuda"}) {
      const auto text = first_variant(family, device);
      ASSERT_TRUE(text) << family << " " << device;
      EXPECT_NE(text->find("MPROF_VARIANT"), std::string_view::npos);
    }
  }
  EXPECT_FALSE(first_variant("nothing", "cpu"));
}

}  // namespace
}  // namespace mprof
