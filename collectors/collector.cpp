// SPDX-License-Identifier: MIT
#include "collectors/collector.hpp"

#include <algorithm>
#include <utility>

namespace mprof {

CollectorKinds& CollectorKinds::instance() {
  static CollectorKinds kinds;
  return kinds;
}

void CollectorKinds::add(CollectorKind kind) {
  // Kept sorted; the id decides between equals, since files register in an order of the linker's choice.
  const auto before = [](const CollectorKind& a, const CollectorKind& b) {
    return std::pair(a.order, std::string_view(a.id)) < std::pair(b.order, std::string_view(b.id));
  };
  kinds_.insert(std::upper_bound(kinds_.begin(), kinds_.end(), kind, before), std::move(kind));
}

std::vector<const CollectorKind*> CollectorKinds::of(Pass pass, std::string_view device) const {
  std::vector<const CollectorKind*> found;
  for (const CollectorKind& kind : kinds_) {
    if (kind.pass == pass && (kind.device.empty() || kind.device == device)) found.push_back(&kind);
  }
  return found;
}

}  // namespace mprof
