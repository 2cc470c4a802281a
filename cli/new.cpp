#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "cli/options.hpp"
#include "kernels/registry.hpp"
#include "kernels/sources.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, std::string_view what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

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
  throw Error(ExitCode::usage, fmt::format("--family {}: mprof has no family of this name.{} There are {}.",
                                           family, did_you_mean(family, known), fmt::join(known, ", ")));
}

int make_new(const Arguments& arguments) {
  if (const std::string what = arguments.text("KIND"); what != "variant") {
    throw Error(ExitCode::usage,
                fmt::format("mprof new {}: it writes a variant: mprof new variant FILE.", what));
  }
  if (!arguments.given("family")) {
    throw Error(ExitCode::usage,
                "say with --family of which family the variant is; `mprof list` shows them.");
  }
  const fs::path file = arguments.text("FILE");
  std::string text = template_of(arguments.text("family"), device_of(file));
  std::error_code error;
  if (fs::exists(file, error)) {
    throw Error(ExitCode::usage, fmt::format("{} is there already; give another name.", file.string()));
  }
  replace_all(text, "@NAME@", file.stem().string());
  replace_all(text, "@FILE@", file.string());
  write_file(file, text);
  fmt::print("Wrote {}. Next: mprof run --source {}\n", file.string(), file.string());
  return 0;
}

}  // namespace

Verb new_verb() {
  return {.name = "new",
          .positional = "KIND FILE",
          .summary = "write a first variant of your own that works",
          .description =
              "`mprof new variant FILE --family NAME` writes the source of a variant that works, for the "
              "GPU where FILE ends with .cu, for the CPU where it ends with .cpp. `mprof run --source "
              "FILE` runs it; docs/adding.md goes on from there.",
          .options = {{"family", "NAME", "", "The family whose ops it computes (`mprof list`)."}},
          .run = make_new};
}

}  // namespace mprof::cli
