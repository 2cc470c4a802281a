// SPDX-License-Identifier: MIT
#include "injection/records.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cuda/record_layout.hpp"

namespace mprof::injection {
namespace {

constexpr std::size_t largest_record = 256;  // B

void put_number(char* bytes, std::uint64_t number) {
  std::memcpy(bytes, &number, sizeof number);
}

}  // namespace

std::size_t shortest_size(CUpti_ActivityKind kind) {
  const cuda::RecordLayout* const layout = cuda::record_layout(kind);
  return layout != nullptr ? layout->least : 0;
}

bool add_record(CUpti_Activity& record, std::size_t size, JournalWriter& journal, Chunk& chunk) {
  const cuda::RecordLayout* const layout = cuda::record_layout(record.kind);
  if (layout == nullptr || layout->size > largest_record) return true;
  if (size < layout->least) return false;
  std::array<char, largest_record> copy{};
  std::memcpy(copy.data(), &record, std::min(size, layout->size));
  for (const std::size_t at : layout->texts) {
    if (at == 0) continue;
    const char* text = nullptr;
    std::memcpy(&text, copy.data() + at, sizeof text);
    put_number(copy.data() + at, journal.text(text, chunk));
  }
  for (const std::size_t at : layout->forgotten) {
    if (at == 0) continue;
    if (record.kind == CUPTI_ACTIVITY_KIND_OVERHEAD) {  // by CUPTI's header
      void* data = nullptr;
      std::memcpy(&data, copy.data() + at, sizeof data);
      std::free(data);
    }
    put_number(copy.data() + at, 0);
  }
  chunk.add(journal::Kind::record, {copy.data(), layout->size});
  return true;
}

}  // namespace mprof::injection
