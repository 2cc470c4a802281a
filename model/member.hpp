// SPDX-License-Identifier: MIT
#pragma once

/// A member of a struct by its name, for lists that say of each column or field where a row has it.
namespace mprof {

namespace members {
template <class Row, class T>
Row row_with(T Row::*);
}  // namespace members

/// The struct that a member is of.
template <auto Member>
using RowOf = decltype(members::row_with(Member));

/// A row's member, or a member of that. A pointer on the way is followed.
template <auto First, auto... Rest>
constexpr auto& member(auto& row) {
  if constexpr (sizeof...(Rest) == 0) {
    return row.*First;
  } else if constexpr (requires { *(row.*First); }) {
    return member<Rest...>(*(row.*First));
  } else {
    return member<Rest...>(row.*First);
  }
}

}  // namespace mprof
