// SPDX-License-Identifier: MIT
#include "runner/source/recorded_flags.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace mprof {
namespace {

/// Flags that stand alone, in each spelling that GCC, Clang or nvcc takes.
constexpr std::array whole_flags{
    "-g",
    "-G",
    "-w",
    "-pthread",
    "-pedantic",
    "-lineinfo",
    "--generate-line-info",
    "--use_fast_math",
    "-use_fast_math",
    "--extended-lambda",
    "-extended-lambda",
    "--expt-extended-lambda",
    "-expt-extended-lambda",
    "--expt-relaxed-constexpr",
    "-expt-relaxed-constexpr",
    "-ffast-math",
    "-fopenmp",
    "-fopenmp-simd",
    "-funroll-loops",
    "-funroll-all-loops",
    "-ffinite-math-only",
    "-fassociative-math",
    "-freciprocal-math",
    "-funsafe-math-optimizations",
    "-fno-math-errno",
    "-fno-signed-zeros",
    "-fno-trapping-math",
    "-fno-fast-math",
    "-fno-strict-aliasing",
    "-fstrict-aliasing",
    "-fno-omit-frame-pointer",
    "-fomit-frame-pointer",
    "-ftree-vectorize",
    "-fno-tree-vectorize",
    "-fvectorize",
    "-fno-vectorize",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-inline",
    "-fprefetch-loop-arrays",
    "-fwrapv",
};

/// Beginnings of flags that go on with a value in the same word.
constexpr std::array flags_with_value{
    "-O",
    "-I",
    "-D",
    "-U",
    "-l",
    "-L",
    "-W",
    "-std=",
    "--std=",
    "-march=",
    "-mtune=",
    "-mcpu=",
    "-mavx",
    "-mno-avx",
    "-msse",
    "-mno-sse",
    "-mfma",
    "-mno-fma",
    "-mf16c",
    "-mbmi",
    "-mpopcnt",
    "-mamx",
    "-arch=",
    "--gpu-architecture=",
    "-gencode=",
    "-ftz=",
    "--ftz=",
    "-prec-div=",
    "-fmad=",
    "--fmad=",
    "--prec-div=",
    "-prec-sqrt=",
    "-Xptxas=-O",
    "-Xptxas=-v",
    "-Xptxas=-dlcm=",
    "--prec-sqrt=",
    "-maxrregcount=",
    "--maxrregcount=",
    "-ffp-contract=",
    "-mprefer-vector-width=",
};

/// Flags whose value is the next word.
constexpr std::array flags_before_value{"-I", "-isystem", "-D",    "-U",           "-l",
                                        "-L", "-gencode", "-arch", "-maxrregcount"};

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_+-=./:").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

/// "arch=compute_90,code=sm_90": a comma separates what a tool behind the compiler is told otherwise (-Wl,).
bool is_plain_value(std::string_view flag, std::string text) {
  if (flag.starts_with("-gencode")) std::erase(text, ',');
  return is_plain(text);
}

bool is_listed(const auto& list, std::string_view flag) {
  return std::ranges::find(list, flag) != list.end();
}

}  // namespace

std::optional<std::string> refused_flag(const std::vector<std::string>& flags) {
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& flag = flags[i];
    if (is_listed(whole_flags, flag)) continue;
    if (is_listed(flags_before_value, flag)) {
      if (i + 1 == flags.size()) return flag;
      const std::string& value = flags[++i];
      if (value.empty() || value.front() == '-' || !is_plain_value(flag, value)) return flag + " " + value;
      continue;
    }
    const bool is_known = std::ranges::any_of(
        flags_with_value, [&](std::string_view beginning) { return flag.starts_with(beginning); });
    if (!is_known || !is_plain_value(flag, flag)) return flag;
  }
  return std::nullopt;
}

bool is_for_a_shell(const std::string& text) {
  return text.find_first_of("$`\"\\\n") != std::string::npos;
}

}  // namespace mprof
