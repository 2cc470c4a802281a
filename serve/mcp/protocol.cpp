// SPDX-License-Identifier: MIT
#include "serve/mcp/protocol.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "model/compact_json.hpp"
#include "model/json_archive.hpp"
#include "model/version.hpp"
#include "system/error.hpp"

namespace mprof::mcp {
namespace {

/// Of JSON-RPC, and of revision 2026-07-28.
enum Code : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  unsupported_version = -32022,
};

constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";
constexpr const char* capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* server_key = "io.modelcontextprotocol/serverInfo";

/// The tools are the same as long as the server lives, and for everybody.
constexpr int fresh_for_ms = 3'600'000;

Reply failure(const Json& id, int code, const std::string& message, Json data = nullptr) {
  Json error{{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = std::move(data);
  return {json::compact({{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}})};
}

Reply success(const Json& id, Json result) {
  return {json::compact({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}})};
}

bool is_id(const Json& id) {
  return id.is_string() || id.is_number_integer();
}

Json server_info() {
  return {{"name", "mprof"}, {"title", "mprof"}, {"version", std::string(version)}};
}

Json supported_versions() {
  Json versions = Json::array({stateless_version});
  for (const std::string& one : handshake_versions()) versions.push_back(one);
  return versions;
}

/// Whether clients of this version read structuredContent and outputSchema. Dates compare as text.
bool reads_structure(const std::string& version) {
  return version >= "2025-06-18";
}

/// The member of that name, or null.
const Json& member(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

}  // namespace

const std::vector<std::string>& handshake_versions() {
  static const std::vector<std::string> versions{"2025-11-25", "2025-06-18", "2025-03-26"};
  return versions;
}

struct Protocol::Request {
  Json id;
  std::string method;
  Json params;
  std::string version{};  ///< that its answer is in
  [[nodiscard]] bool is_stateless() const { return version == stateless_version; }
  /// A result in the words of the request's version.
  [[nodiscard]] Json result(Json fields) const {
    if (!is_stateless()) return fields;
    Json result{{"resultType", "complete"}};
    result.update(fields);
    result["_meta"] = {{server_key, server_info()}};
    return result;
  }
};

Protocol::Protocol(Json tools, std::string instructions)
    : tools_(std::move(tools)), instructions_(std::move(instructions)) {}

std::string Protocol::too_long() {
  return failure(nullptr, parse_error,
                 fmt::format("A line is longer than {} bytes, and was not read.", longest_message))
      .line;
}

Reaction Protocol::receive(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return Nothing{};
  try {
    Allowance allowance;
    Json message = json::parse(line, "the message", allowance);
    const Reaction reaction = react(message);
    json::empty(message);
    return reaction;
  } catch (const Error& error) {
    return failure(nullptr, parse_error, error.what());
  }
}

Reaction Protocol::react(const Json& message) {
  if (message.is_array())
    return failure(nullptr, invalid_request, "Batches are not answered. Send one message a line.");
  if (!message.is_object() || member(message, "jsonrpc") != "2.0")
    return failure(nullptr, invalid_request, "This is no message of JSON-RPC 2.0.");
  const Json& id = member(message, "id");
  if (!message.contains("method")) return Nothing{};  // an answer: nothing was asked
  if (message.contains("id") && !is_id(id))
    return failure(nullptr, invalid_request, "An id must be text or a whole number.");
  const Json& method = member(message, "method");
  if (!method.is_string()) return failure(id, invalid_request, "The method must be text.");
  Request request{.id = id, .method = method.get<std::string>(), .params = member(message, "params")};
  if (!request.params.is_null() && !request.params.is_object())
    return id.is_null() ? Reaction(Nothing{})
                        : Reaction(failure(id, invalid_params, "The params must be an object."));
  if (!message.contains("id")) {
    const Json& of = member(request.params, "requestId");
    return request.method == "notifications/cancelled" && is_id(of) ? Reaction(Cancelled{of})
                                                                    : Reaction(Nothing{});
  }
  return react_to(request);
}

Reaction Protocol::react_to(const Request& received) {
  if (received.method == "initialize") return initialize(received);
  Request request = received;
  const Json& meta = member(request.params, "_meta");
  const Json& asked = member(meta, version_key);
  if (asked.is_null() && agreed_.empty()) {
    if (request.method == "ping") return success(request.id, Json::object());
    return failure(
        request.id, invalid_params,
        fmt::format("Begin with initialize, or give {} and {} in _meta.", version_key, capabilities_key));
  }
  request.version = asked.is_null() ? agreed_ : asked.is_string() ? asked.get<std::string>() : "";
  if (!asked.is_null() && !request.is_stateless() && request.version != agreed_)
    return failure(request.id, unsupported_version, "Unsupported protocol version",
                   {{"supported", supported_versions()}, {"requested", asked}});
  if (request.is_stateless() && !member(meta, capabilities_key).is_object())
    return failure(request.id, invalid_params, fmt::format("_meta lacks {}.", capabilities_key));
  if (request.method == "server/discover" && request.is_stateless())
    return success(request.id, request.result({{"supportedVersions", supported_versions()},
                                               {"capabilities", capabilities()},
                                               {"instructions", instructions_},
                                               {"ttlMs", fresh_for_ms},
                                               {"cacheScope", "private"}}));
  if (request.method == "ping") return success(request.id, request.result(Json::object()));
  if (request.method == "tools/list") {
    if (!member(request.params, "cursor").is_null())
      return failure(request.id, invalid_params, "There is one page of tools: leave the cursor out.");
    return success(request.id, request.result(listed(request)));
  }
  if (request.method == "tools/call") return call(request);
  return failure(request.id, method_not_found, "This server has tools alone.");
}

Reaction Protocol::initialize(const Request& request) {
  const Json& asked = member(request.params, "protocolVersion");
  if (!asked.is_string()) return failure(request.id, invalid_params, "protocolVersion must be text.");
  const std::vector<std::string>& known = handshake_versions();
  const auto found = std::ranges::find(known, asked.get<std::string>());
  agreed_ = found == known.end() ? known.front() : *found;
  return success(request.id, {{"protocolVersion", agreed_},
                              {"capabilities", capabilities()},
                              {"serverInfo", server_info()},
                              {"instructions", instructions_}});
}

Json Protocol::capabilities() const {
  return {{"tools", Json::object()}};
}

Json Protocol::listed(const Request& request) const {
  Json tools = tools_;
  if (!reads_structure(request.version)) {
    for (Json& tool : tools) {
      tool.erase("outputSchema");
      tool.erase("title");
    }
  }
  Json result{{"tools", std::move(tools)}};
  if (request.is_stateless()) {
    result["ttlMs"] = fresh_for_ms;
    result["cacheScope"] = "private";
  }
  return result;
}

Reaction Protocol::call(const Request& request) const {
  const Json& name = member(request.params, "name");
  const bool is_known =
      name.is_string() && std::ranges::any_of(tools_, [&](const Json& tool) { return tool["name"] == name; });
  if (!is_known) return failure(request.id, invalid_params, "There is no tool of this name.");
  const Json& arguments = member(request.params, "arguments");
  if (!arguments.is_null() && !arguments.is_object())
    return failure(request.id, invalid_params, "The arguments must be an object.");
  Call call{.id = request.id, .tool = name.get<std::string>(), .version = request.version};
  if (arguments.is_object()) call.arguments = arguments;
  const Json& token = member(member(request.params, "_meta"), "progressToken");
  if (is_id(token)) call.progress_token = token;
  return call;
}

std::string Protocol::answer(const Call& call, const Outcome& outcome) {
  const std::string text = json::compact(outcome.document);
  Json fields{{"content", Json::array({{{"type", "text"}, {"text", text}}})}};
  // What a schema describes are answers: an error has another form.
  if (reads_structure(call.version) && !outcome.is_error) fields["structuredContent"] = outcome.document;
  fields["isError"] = outcome.is_error;
  const Request request{.id = call.id, .method = {}, .params = {}, .version = call.version};
  return success(call.id, request.result(std::move(fields))).line;
}

std::string Protocol::progress(const Json& token, double done, std::optional<double> of,
                               std::string_view message) {
  Json params{{"progressToken", token}, {"progress", done}};
  if (of) params["total"] = *of;
  if (!message.empty()) params["message"] = message;
  return json::compact(
      {{"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", std::move(params)}});
}

}  // namespace mprof::mcp
