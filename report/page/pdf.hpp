// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

/// Pages on paper: Chromium, which is installed or not, prints what mprof wrote as HTML.
namespace mprof {

/// The program that prints: what the environment variable CHROMIUM names, else the first of chromium,
/// chromium-browser, google-chrome and google-chrome-stable on the PATH. Throws Error(environment) that says
/// what to install.
[[nodiscard]] std::filesystem::path find_chromium();

/// The PDF of a page that needs no other file. Throws Error(environment) when Chromium fails or takes longer
/// than `limit`; it leaves no process and no file behind, whatever happens.
[[nodiscard]] std::string print_to_pdf(const std::filesystem::path& chromium, std::string_view html,
                                       std::chrono::duration<double> limit = std::chrono::minutes(5));

}  // namespace mprof
