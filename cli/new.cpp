// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <system_error>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>

#include "cli/options.hpp"
#include "device/device.hpp"
#include "inputs/first_suite.hpp"
#include "kernels/registry.hpp"
#include "kernels/sources.hpp"
#include "runner/source/first_family.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// The device that a file of this name is for.
std::string device_of(const fs::path& file) {
  if (file.extension() == ".cu") return "cuda";
  if (file.extension() == ".cpp") return "cpu";
  throw Error(
      ExitCode::usage,
      fmt::format("{}: end the name with .cu for a variant for the GPU, with .cpp for one for the CPU.",
                  file.string()));
}

std::string template_of(const std::string& family, const std::string& device) {
  if (const auto text = first_variant(family, device)) return std::string(*text);
  std::vector<std::string> known;
  for (const Family* other : Registry::instance().families()) known.push_back(other->info().id);
  const std::string wrong = family.empty() ? "--family is missing: give the family whose ops it computes."
                                           : fmt::format("--family {}: mprof has no family of this name.{}",
                                                         family, did_you_mean(family, known));
  throw Error(ExitCode::usage, fmt::format("{} There are {}.", wrong, fmt::join(known, ", ")));
}

void require_new(const fs::path& file) {
  std::error_code error;
  if (fs::exists(file, error))
    throw Error(ExitCode::usage, fmt::format("{} is there already; give another name.", file.string()));
}

/// `kind`: what is made with this option. `instead`: a sentence, or nothing.
void refuse_option(const Arguments& arguments, const char* option, const char* kind, const char* instead) {
  if (arguments.given(option))
    throw Error(ExitCode::usage, fmt::format("--{} is for `mprof new {}` alone.{}", option, kind, instead));
}

/// The first suite of programs.
void make_suite(const Arguments& arguments) {
  refuse_option(arguments, "family", "variant", " A suite is a family of its own.");
  refuse_option(arguments, "device", "family", "");
  const fs::path file = arguments.text("NAME");
  if (file.extension() != ".toml")
    throw Error(ExitCode::usage,
                fmt::format("{}: end the name of a suite with .toml, as in mprof.toml.", file.string()));
  require_new(file);
  std::string text(first_suite());
  boost::replace_all(text, "@FILE@", file.string());
  write_output(file, text);
  fmt::print("Wrote {0}. Next: mprof run --suite {0} --all --quick\n", file.string());
}

void make_variant(const Arguments& arguments) {
  refuse_option(arguments, "device", "family",
                " The name of a variant's file says its device: .cpp is for the CPU, .cu for GPUs.");
  const fs::path file = arguments.text("NAME");
  std::string text = template_of(arguments.given("family") ? arguments.text("family") : "", device_of(file));
  require_new(file);
  boost::replace_all(text, "@NAME@", file.stem().string());
  boost::replace_all(text, "@FILE@", file.string());
  write_output(file, text);
  fmt::print("Wrote {0}. Next: mprof run --source {0} --quick\n", file.string());
}

std::string name_of_family(const fs::path& folder) {
  std::string name = folder.filename().string();
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0 ||
      !std::ranges::all_of(name, is_plain)) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}: a family's name is a letter, then letters, digits, _ and -.", folder.string()));
  }
  if (Registry::instance().family(name) != nullptr)
    throw Error(ExitCode::usage, fmt::format("{}: mprof has a family of this name.", name));
  return name;
}

/// That of the new variants: the one that is asked for, or this machine's best.
std::string device_of_family(const Arguments& arguments) {
  if (!arguments.given("device")) return std::string(Devices::instance().preferred().id());
  const std::string device = arguments.text("device");
  if (device == "cpu" || device == "cuda") return device;
  throw Error(ExitCode::usage, fmt::format("--device {}: say cpu or cuda.", device));
}

void make_family(const Arguments& arguments) {
  refuse_option(arguments, "family", "variant", "");
  const fs::path folder = (fs::path(arguments.text("NAME")) / "").parent_path();
  const std::string name = name_of_family(folder);
  const std::string device = device_of_family(arguments);
  require_new(folder);
  write_first_family(folder, name, device);
  fmt::print("Wrote {}/. Next: mprof run --source {} --quick\n", folder.string(), folder.string());
}

int make_new(const Arguments& arguments) {
  const std::string what = arguments.text("KIND");
  if (what == "variant") {
    make_variant(arguments);
  } else if (what == "family") {
    make_family(arguments);
  } else if (what == "suite") {
    make_suite(arguments);
  } else {
    throw Error(ExitCode::usage,
                fmt::format("mprof new {}: it writes a variant, a family or a suite: mprof new variant FILE, "
                            "mprof new family FOLDER, mprof new suite FILE.",
                            what));
  }
  return 0;
}

}  // namespace

Verb new_verb() {
  return {
      .name = "new",
      .positional = "KIND NAME",
      .choices = "variant family suite",
      .summary = "write a first variant, family or suite of your own that works",
      .description =
          "Writes source code that works, to start from. A variant is for the GPU when the file ends with "
          ".cu, and for the CPU when it ends with .cpp. A family says what is computed and what is right, "
          "with a baseline and an optimization. A suite describes programs. docs/guides/adding.md and "
          "docs/guides/suites.md continue from there.",
      .examples = {{"mprof new variant mine.cu --family {family}", "a kernel of a family that mprof has"},
                   {"mprof new family transpose", "a family of your own, in a folder"},
                   {"mprof new suite mprof.toml", "programs to compare"}},
      .section = Section::start,
      .options =
          {{"family", "NAME", "", "The family whose ops a variant computes (`mprof list -v`)."},
           chosen_from(
               "cpu cuda",
               {"device", "NAME", "",
                "The device of a family's variants: cpu or cuda. Default: cuda where there is a GPU."})},
      .run = make_new};
}

}  // namespace mprof::cli
