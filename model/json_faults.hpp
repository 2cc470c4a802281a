// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Why JSON is refused, for its readers.
namespace mprof::json {

/// No value lies in so many others: each level costs its reader some of the stack.
inline constexpr std::size_t deepest = 100;

/// Throws that a document takes more memory than it may.
[[noreturn]] void refuse_size(const std::string& name);
/// Throws that values lie in each other deeper than that, at this byte.
[[noreturn]] void refuse_depth(std::string_view text, const std::string& name, std::size_t byte);
/// Throws what nlohmann's parser has to say against this text, which is no JSON at this byte.
[[noreturn]] void refuse_syntax(std::string_view text, const std::string& name, std::size_t byte);
/// Throws that an object has two members of a name.
[[noreturn]] void refuse_twin(const std::string& document, std::string_view name);

}  // namespace mprof::json
