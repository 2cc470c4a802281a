// SPDX-License-Identifier: MIT
#include "model/kernel_name.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace mprof {
namespace {

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : symbol;
}

bool opens(char c) {
  return c == '(' || c == '<' || c == '[';
}

bool closes(char c) {
  return c == ')' || c == '>' || c == ']';
}

/// The name without its parameters: what stands before the parenthesis that the last one closes.
std::string_view without_parameters(std::string_view name) {
  const std::size_t last = name.rfind(')');
  if (last == std::string_view::npos) return name;
  int depth = 0;
  for (std::size_t i = last + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i == 0 ? name : name.substr(0, i);
  }
  return name;
}

/// What follows the last space and the last :: outside of all brackets: no return type, no namespaces.
std::string_view unqualified(std::string_view name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (closes(name[i])) ++depth;
    if (opens(name[i])) --depth;
    if (depth == 0 && (name[i] == ' ' || name[i] == ':')) return name.substr(i + 1);
  }
  return name;
}

}  // namespace

KernelName kernel_name_of_demangled(std::string_view whole) {
  KernelName name;
  name.whole = whole;
  name.templated = unqualified(without_parameters(name.whole));
  name.brief = name.templated.substr(0, name.templated.find('<'));
  return name;
}

KernelName kernel_name(std::string_view symbol) {
  const std::string whole = demangled(std::string(symbol));
  return whole == symbol ? KernelName{whole, whole, whole} : kernel_name_of_demangled(whole);
}

std::vector<std::string> distinct_kernel_names(std::span<const std::string> symbols) {
  std::vector<KernelName> all;
  for (const std::string& symbol : symbols) all.push_back(kernel_name(symbol));
  return distinct_names(all);
}

std::vector<std::string> distinct_names(std::span<const KernelName> all) {
  std::vector<std::string> names;
  for (const KernelName& name : all) {
    const auto alike = [&](const KernelName& other) { return other.brief == name.brief; };
    names.push_back(std::ranges::count_if(all, alike) == 1 ? name.brief : name.templated);
  }
  const std::vector<std::string> unnumbered = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto end = unnumbered.begin() + static_cast<std::ptrdiff_t>(i);
    const auto earlier = std::count(unnumbered.begin(), end, unnumbered[i]);
    if (earlier > 0) names[i] += " #" + std::to_string(earlier + 1);
  }
  return names;
}

}  // namespace mprof
