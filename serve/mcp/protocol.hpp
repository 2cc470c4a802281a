// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

/// The Model Context Protocol on a pipe: one JSON-RPC message a line. Two eras are answered alike: clients
/// that begin with `initialize`, and clients of revision 2026-07-28, whose requests carry their version.
/// Nothing here reads, waits or starts anything.
namespace mprof::mcp {

using Json = nlohmann::ordered_json;

/// The newest first.
inline constexpr std::string_view stateless_version = "2026-07-28";
[[nodiscard]] const std::vector<std::string>& handshake_versions();

/// No longer line is read: the text of a source takes at most 256 KiB, and its JSON some more.
inline constexpr std::size_t longest_message = std::size_t{2} << 20;

/// A call of a tool that must be answered.
struct Call {
  Json id;
  std::string tool;
  Json arguments = Json::object();
  std::optional<Json> progress_token{};  ///< the client wants to hear how it goes on
  std::string version{};                 ///< of the protocol, that the answer is in
};

/// The client waits for an answer no longer.
struct Cancelled {
  Json id;
};

/// A line that is sent as it is, without its end.
struct Reply {
  std::string line;
};

struct Nothing {};

using Reaction = std::variant<Nothing, Reply, Call, Cancelled>;

/// What a tool call came to.
struct Outcome {
  Json document;  ///< an object
  bool is_error = false;
};

/// One client. Its lines come in order.
class Protocol {
 public:
  /// `tools`: what `tools/list` lists, with the schemas. `instructions`: for whoever uses them.
  Protocol(Json tools, std::string instructions);

  /// What a line of the client asks for. Never throws for what it holds.
  [[nodiscard]] Reaction receive(std::string_view line);

  /// What is said of a line that is longer than longest_message, and was not kept.
  [[nodiscard]] static std::string too_long();

  /// The answer to a call, as a line.
  [[nodiscard]] static std::string answer(const Call& call, const Outcome& outcome);
  /// How far a call is, for a client that wants to hear it.
  [[nodiscard]] static std::string progress(const Json& token, double done, std::optional<double> of,
                                            std::string_view message);

 private:
  struct Request;

  [[nodiscard]] Reaction react(const Json& message);
  [[nodiscard]] Reaction react_to(const Request& request);
  [[nodiscard]] Reaction initialize(const Request& request);
  [[nodiscard]] Json listed(const Request& request) const;
  [[nodiscard]] Reaction call(const Request& request) const;
  [[nodiscard]] Json capabilities() const;

  Json tools_;
  std::string instructions_;
  std::string agreed_{};  ///< the version that `initialize` agreed on; empty before it
};

}  // namespace mprof::mcp
