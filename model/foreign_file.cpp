// SPDX-License-Identifier: MIT
#include "model/foreign_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include <fmt/format.h>

namespace mprof {
namespace {

/// So many bytes show what a file is: programs print before a profiler does.
constexpr std::size_t beginning = std::size_t{1} << 16;

struct Looked {
  std::string_view bytes;
  std::string name{};
  [[nodiscard]] bool begins(std::string_view with) const { return bytes.starts_with(with); }
  [[nodiscard]] bool has(std::string_view text) const { return bytes.find(text) != bytes.npos; }
};

bool is_web_page(const Looked& file) {
  const std::size_t start = file.bytes.find_first_not_of(" \t\r\n");
  if (start == file.bytes.npos) return false;
  std::string head(file.bytes.substr(start, 16));
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return std::tolower(c); });
  return head.starts_with("<!doctype html") || head.starts_with("<html");
}

struct ForeignKind {
  bool (*is)(const Looked& file);
  std::string_view text;  ///< {0}: the file's name
};

/// What is told by its content stands before what is told by its name alone.
constexpr std::array foreign_kinds{
    ForeignKind{[](const Looked& f) { return f.bytes.empty(); },
                "the file is empty. Make it again, and check that the command that wrote it ended well."},
    ForeignKind{[](const Looked& f) { return f.begins("version https://git-lfs.github.com/spec/"); },
                "this is a Git LFS pointer, not the file itself. Fetch the file: `git lfs pull`."},
    ForeignKind{is_web_page, "this is a web page, as a failed download leaves one. Download the file again."},
    ForeignKind{[](const Looked& f) { return f.begins(std::string_view("SQLite format 3\0", 16)); },
                "this is an SQLite database. One of `nsys export --type sqlite` is read with --nsys {0}."},
    ForeignKind{
        [](const Looked& f) { return f.begins("NVR") || f.name.ends_with(".ncu-rep"); },
        "this is a report of Nsight Compute itself. Print it first: `ncu --import {0} --csv --page raw "
        "> FILE`, and give FILE with --ncu."},
    ForeignKind{
        [](const Looked& f) { return f.name.ends_with(".nsys-rep") || f.name.ends_with(".qdrep"); },
        "this is a report of Nsight Systems itself. Export it first: `nsys export --type sqlite {0}`."},
    ForeignKind{[](const Looked& f) { return f.has("\"traceEvents\"") || f.name.ends_with(".json.gz"); },
                "this looks like a trace of PyTorch's profiler. Import it with --torch {0}."},
    ForeignKind{[](const Looked& f) { return f.begins("\x1f\x8b"); },
                "this is compressed. Unpack it first: `gunzip {0}`."},
    ForeignKind{[](const Looked& f) { return f.has("Kernel Name") && f.has("\"ID\""); },
                "this is what `ncu --csv` printed. Import it with --ncu {0}."},
    ForeignKind{
        [](const Looked& f) { return f.has("    Section: ") && f.has("Metric Name"); },
        "this is the text that ncu prints for people, without numbers of full precision. Print a table: "
        "`ncu --csv --page raw PROGRAM > FILE` or, of a report, `ncu --import REPORT --csv --page raw > "
        "FILE`."},
};

}  // namespace

std::string what_it_is(std::string_view bytes, const std::filesystem::path& file) {
  const Looked looked{bytes.substr(0, beginning), file.filename().string()};
  const auto* const found =
      std::ranges::find_if(foreign_kinds, [&](const ForeignKind& kind) { return kind.is(looked); });
  return found == foreign_kinds.end() ? std::string() : fmt::format(fmt::runtime(found->text), file.string());
}

std::string what_it_is(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(beginning, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return what_it_is(bytes, file);
}

}  // namespace mprof
