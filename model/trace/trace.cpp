#include "model/trace/trace.hpp"

#include <algorithm>

namespace mprof::trace {

PlaceIndex Trace::index_of(const Place& place) {
  const auto found = std::ranges::find(places, place);
  if (found != places.end()) return static_cast<PlaceIndex>(found - places.begin());
  places.push_back(place);
  return static_cast<PlaceIndex>(places.size() - 1);
}

}  // namespace mprof::trace
