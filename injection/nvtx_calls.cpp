// SPDX-License-Identifier: MIT
#include "injection/nvtx_calls.hpp"

#include <atomic>
#include <cwchar>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "injection/journal_writer.hpp"

namespace mprof::injection {
namespace {

/// A domain or a registered string: NVTX hands its address around.
using Named = std::string;

NvtxObserver* observer = nullptr;
std::atomic<std::uint64_t> last_range = 0;
thread_local std::vector<NvtxRange> stack;
std::mutex started_mutex;
/// Never destroyed: ranges end while the process does.
auto& started = *new std::unordered_map<std::uint64_t, NvtxRange>;

/// UTF-8.
std::string narrow(const wchar_t* text) {
  std::string out;
  for (; text != nullptr && *text != 0; ++text) {
    const std::uint32_t code = std::char_traits<wchar_t>::to_int_type(*text);
    const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    const auto add_rest = [&](unsigned shift) { add(0x80U | ((code >> shift) & 0x3FU)); };
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xC0U | (code >> 6U));
      add_rest(0);
    } else if (code < 0x10000) {
      add(0xE0U | (code >> 12U));
      add_rest(6);
      add_rest(0);
    } else {
      add(0xF0U | (code >> 18U));
      add_rest(12);
      add_rest(6);
      add_rest(0);
    }
  }
  return out;
}

std::string text_of(const char* text) {
  return text != nullptr ? text : "";
}

std::string text_of(const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr) return "";
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return text_of(attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return narrow(attributes->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto* const named = reinterpret_cast<const Named*>(attributes->message.registered);
      return named != nullptr ? *named : "";
    }
    default:
      return "";
  }
}

const Named* domain_of(nvtxDomainHandle_t domain) {
  return reinterpret_cast<const Named*>(domain);
}

/// How many ranges of the domain are open on this thread.
int depth(const Named* domain) {
  int open = 0;
  for (const NvtxRange& range : stack) open += range.domain == domain ? 1 : 0;
  return open;
}

NvtxRange new_range(const Named* domain, std::string text) {
  NvtxRange range{.id = ++last_range, .start = now(), .text = std::move(text), .domain = domain};
  observer->begins(range);
  return range;
}

int push(const Named* domain, std::string text) {
  stack.push_back(new_range(domain, std::move(text)));
  return depth(domain) - 1;
}

/// Domains have stacks of their own.
int pop(const Named* domain) {
  for (auto range = stack.rbegin(); range != stack.rend(); ++range) {
    if (range->domain != domain) continue;
    observer->ends(*range, true);
    stack.erase(std::next(range).base());
    return depth(domain);
  }
  return NVTX_NO_PUSH_POP_TRACKING;
}

nvtxRangeId_t begin(const Named* domain, std::string text) {
  NvtxRange range = new_range(domain, std::move(text));
  const std::lock_guard lock(started_mutex);
  return started.insert_or_assign(range.id, std::move(range)).first->first;
}

void end(nvtxRangeId_t id) {
  NvtxRange range;
  {
    const std::lock_guard lock(started_mutex);
    const auto found = started.find(id);
    if (found == started.end()) return;
    range = std::move(found->second);
    started.erase(found);
  }
  observer->ends(range, false);
}

// --- what NVTX calls ---

int push_text(const char* text) {
  return push(nullptr, text_of(text));
}
int push_wide(const wchar_t* text) {
  return push(nullptr, narrow(text));
}
int push_attributes(const nvtxEventAttributes_t* attributes) {
  return push(nullptr, text_of(attributes));
}
int pop_default() {
  return pop(nullptr);
}
nvtxRangeId_t start_text(const char* text) {
  return begin(nullptr, text_of(text));
}
nvtxRangeId_t start_wide(const wchar_t* text) {
  return begin(nullptr, narrow(text));
}
nvtxRangeId_t start_attributes(const nvtxEventAttributes_t* attributes) {
  return begin(nullptr, text_of(attributes));
}
void end_default(nvtxRangeId_t id) {
  end(id);
}
int push_in_domain(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return push(domain_of(domain), text_of(attributes));
}
int pop_in_domain(nvtxDomainHandle_t domain) {
  return pop(domain_of(domain));
}
nvtxRangeId_t start_in_domain(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return begin(domain_of(domain), text_of(attributes));
}
void end_in_domain(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t id) {
  end(id);
}
nvtxDomainHandle_t create_domain(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Named(text_of(name)));
}
nvtxDomainHandle_t create_wide_domain(const wchar_t* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Named(narrow(name)));
}
nvtxStringHandle_t register_text(nvtxDomainHandle_t /*domain*/, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(new Named(text_of(text)));
}
nvtxStringHandle_t register_wide(nvtxDomainHandle_t /*domain*/, const wchar_t* text) {
  return reinterpret_cast<nvtxStringHandle_t>(new Named(narrow(text)));
}

/// A module's functions, which NVTX calls where they are set.
class FunctionTable {
 public:
  FunctionTable(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) size_ = 0;
  }
  template <class Function>
  void set(unsigned id, Function* function) {
    if (id < size_ && table_[id] != nullptr) *table_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

void take_calls(const NvtxExportTableCallbacks& callbacks) {
  FunctionTable core(callbacks, NVTX_CB_MODULE_CORE);
  core.set(NVTX_CBID_CORE_RangePushA, push_text);
  core.set(NVTX_CBID_CORE_RangePushW, push_wide);
  core.set(NVTX_CBID_CORE_RangePushEx, push_attributes);
  core.set(NVTX_CBID_CORE_RangePop, pop_default);
  core.set(NVTX_CBID_CORE_RangeStartA, start_text);
  core.set(NVTX_CBID_CORE_RangeStartW, start_wide);
  core.set(NVTX_CBID_CORE_RangeStartEx, start_attributes);
  core.set(NVTX_CBID_CORE_RangeEnd, end_default);
  FunctionTable domains(callbacks, NVTX_CB_MODULE_CORE2);
  domains.set(NVTX_CBID_CORE2_DomainRangePushEx, push_in_domain);
  domains.set(NVTX_CBID_CORE2_DomainRangePop, pop_in_domain);
  domains.set(NVTX_CBID_CORE2_DomainRangeStartEx, start_in_domain);
  domains.set(NVTX_CBID_CORE2_DomainRangeEnd, end_in_domain);
  domains.set(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  domains.set(NVTX_CBID_CORE2_DomainCreateW, create_wide_domain);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_text);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_wide);
}

}  // namespace

bool take_nvtx_calls(NvtxGetExportTableFunc_t get_export_table, NvtxObserver& told) {
  const auto* const callbacks =
      get_export_table == nullptr
          ? nullptr
          : static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return false;
  observer = &told;
  take_calls(*callbacks);
  return true;
}

}  // namespace mprof::injection
