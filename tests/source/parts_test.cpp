// SPDX-License-Identifier: MIT
#include "runner/source/parts.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/registry.hpp"
#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

TEST(UndefinedSymbol, IsWhatALinkerOrALoaderNames) {
  for (const auto& [message, symbol] :
       {std::pair{"m.cpp: undefined reference to `tools::multiply(float*, int)'\nld returned 1",
                  "tools::multiply(float*, int)"},
        {"nvlink error   : Undefined reference to '_Z3addff' in 'a.o'", "add(float, float)"},
        {"ld.lld: error: undefined symbol: multiply(float, float)\n>>> referenced by a",
         "multiply(float, float)"},
        {"a.so: undefined symbol: _Z3addff", "add(float, float)"},
        {"undefined reference to `apply(void (*)(int), float)'", "apply(void (*)(int), float)"},
        {"undefined behaviour, undefined symbol: cublasNone", "cublasNone"},
        {"undefined symbol: f(int\nmore)", "f(int"}})
    EXPECT_EQ(undefined_symbol(message), symbol);
  for (const char* message :
       {"", "undefined ", "undefined symbol: ", "undefined reference to `", "all is well"})
    EXPECT_EQ(undefined_symbol(message), std::nullopt) << message;
  EXPECT_EQ(undefined_symbol("undefined symbol: " + std::string(10'000'000, 'x'))->size(), 10'000'000U);
}

TEST(Advice, NamesWhatTheCompilerMissed) {
  EXPECT_TRUE(advice_on_compiler("gcc versions later than 12 are not supported!")
                  .starts_with("This nvcc takes g++ up to version 12:"));
  EXPECT_TRUE(advice_on_compiler("Unsupported gpu architecture 'compute_35'")
                  .starts_with("This nvcc does not know the architecture compute_35:"));
  EXPECT_TRUE(advice_on_compiler("Value 'sm_35' is not defined for option 'gpu-architecture'")
                  .starts_with("This nvcc does not know the architecture sm_35:"));
  EXPECT_TRUE(advice_on_compiler("a.cu:1:10: fatal error: x/y.h: No such file or directory")
                  .starts_with("x/y.h is not beside the source:"));
  EXPECT_EQ(advice_on_compiler("Value 'x' is well. fatal error: : No such file"), "");
  EXPECT_EQ(advice_on_compiler("fatal error: " + std::string(10'000'000, 'x')), "");
}

/// A file of any size and content may lie beside a source.
TEST(Definers, AreTheFilesThatDefineAFunction) {
  const test::TemporaryDirectory folder;
  const auto place = [&](const char* name, const std::string& text) {
    write_file(folder.path() / name, text);
  };
  const std::string much(3'000'000, 'x');
  place("main.cpp", "float helper(float a) { return a; }");
  place("comment.cpp", "float helper(float a, float b /*" + much + "*/)\n  noexcept {");
  place("member.cu", "int helper (\nint a) const{}");
  place("open.cpp", "float helper(" + much);
  place("declared.cpp", "float helper(float a); { float my_helper(float a) {} helper2() {} helper(f()) {}");
  place("main2.cpp", "float helper() {} int main() {}");
  place("text.txt", "float helper(float a) {");
  const std::vector<fs::path> found =
      definers("helper(float, float)", {folder.path() / "main.cpp"}, Registry::instance());
  EXPECT_EQ(found, (std::vector<fs::path>{folder.path() / "comment.cpp", folder.path() / "member.cu"}));
}

}  // namespace
}  // namespace mprof
