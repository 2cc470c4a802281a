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

bool is_kept(const CUpti_Activity& record, const WindowGate& gate) {
  if (!gate.is_set()) return true;
  const auto keeps = [&]<class Record>(const Record& of, bool is_of_gpu) {
    return gate.keeps(static_cast<std::int64_t>(of.start), static_cast<std::int64_t>(of.end), is_of_gpu);
  };
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return keeps(reinterpret_cast<const CUpti_ActivityKernel10&>(record), true);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return keeps(reinterpret_cast<const CUpti_ActivityMemcpy6&>(record), true);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return keeps(reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record), true);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return keeps(reinterpret_cast<const CUpti_ActivityMemset4&>(record), true);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return keeps(reinterpret_cast<const CUpti_ActivityAPI&>(record), false);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return keeps(reinterpret_cast<const CUpti_ActivitySynchronization2&>(record), false);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return keeps(reinterpret_cast<const CUpti_ActivityOverhead3&>(record), false);
    default:  // ranges, memory, contexts and devices: what happens in the window refers to them
      return true;
  }
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
