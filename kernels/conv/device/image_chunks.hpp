// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mprof::conv::pipeline {

/// [first, first + count) of a batch.
struct Images {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// How `batch` images are cut for so many lanes, whichever lane is quick. A lane's first chunk is as small as
/// can be, so that the copies out begin early. Then each chunk is half of a lane's share of what is left,
/// from `least` to `most` images, so that no lane ends long after the others. Needs lanes >= 1 and 1 <= least
/// <= most.
inline std::vector<Images> image_chunks(std::size_t batch, std::size_t lanes, std::size_t least,
                                        std::size_t most) {
  std::vector<Images> chunks;
  for (std::size_t first = 0; first < batch; first += chunks.back().count) {
    const std::size_t left = batch - first;
    const std::size_t wanted = chunks.size() < lanes ? least : left / (2 * lanes);
    chunks.push_back({first, std::min(std::clamp(wanted, least, most), left)});
  }
  return chunks;
}

}  // namespace mprof::conv::pipeline
