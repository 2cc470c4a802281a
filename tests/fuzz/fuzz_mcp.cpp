// SPDX-License-Identifier: MIT
// What a client of `mprof mcp` writes may be any bytes, in any pieces: each line is answered with a line of
// JSON, asks for a known tool, or is passed over.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

#include "serve/mcp/input_lines.hpp"
#include "serve/mcp/protocol.hpp"

namespace {

using mprof::mcp::Json;

constexpr std::size_t longest = 4096;  // shorter than the server's, so that inputs reach it

void expect_message(std::string_view line) {
  if (line.find('\n') != std::string_view::npos) __builtin_trap();
  const Json message = Json::parse(line);  // throws, and so fails, where it is none
  if (message.at("jsonrpc") != "2.0") __builtin_trap();
}

void expect_call(const mprof::mcp::Call& call) {
  if (call.tool != "summary" && call.tool != "rows") __builtin_trap();
  if (!call.arguments.is_object() || call.version.empty()) __builtin_trap();
  expect_message(mprof::mcp::Protocol::answer(call, {call.arguments, false}));
}

}  // namespace

// libFuzzer gives the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  mprof::mcp::Protocol protocol(Json::array({{{"name", "summary"}}, {{"name", "rows"}}}), "Ask.");
  mprof::mcp::InputLines lines(longest);
  const auto on_line = [&](std::string_view line) {
    if (line.size() > longest) __builtin_trap();
    const mprof::mcp::Reaction reaction = protocol.receive(line);
    if (const auto* reply = std::get_if<mprof::mcp::Reply>(&reaction)) expect_message(reply->line);
    if (const auto* call = std::get_if<mprof::mcp::Call>(&reaction)) expect_call(*call);
  };
  const auto on_too_long = [] { expect_message(mprof::mcp::Protocol::too_long()); };
  const std::size_t cut = size > 0 ? data[0] % size : 0;  // lines come in pieces
  lines.add(text.substr(0, cut), on_line, on_too_long);
  lines.add(text.substr(cut), on_line, on_too_long);
  lines.add("\n", on_line, on_too_long);
  return 0;
}
