// SPDX-License-Identifier: MIT
#include "injection/nvtx_callbacks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <generated_nvtx_meta.h>
#include <nvtx3/nvToolsExt.h>

namespace mprof::injection {
namespace {

/// Ids of ranges that are started and ended, beside those that are pushed and popped.
constexpr std::uint64_t started = std::uint64_t{1} << 63U;

/// Never destroyed: ranges end while the process does.
struct Texts {
  std::mutex mutex;
  std::unordered_map<const void*, std::string> by_handle;
};
auto& registered = *new Texts;

/// Of the code points that are one byte each: other characters are in no name that a window asks for.
std::string narrow(const wchar_t* text) {
  std::string out;
  for (; text != nullptr && *text != 0; ++text) out += static_cast<char>(*text < 0x80 ? *text : '?');
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
      const std::lock_guard lock(registered.mutex);
      const auto found = registered.by_handle.find(attributes->message.registered);
      return found != registered.by_handle.end() ? found->second : "";
    }
    default:
      return "";
  }
}

/// A range that this thread has pushed, and its domain.
struct Pushed {
  const void* domain = nullptr;
  std::uint64_t id = 0;
};
thread_local std::vector<Pushed> stack;
std::atomic<std::uint64_t> last_id = 0;

template <class Value>
Value returned(const CUpti_NvtxData& data) {
  Value value{};
  if (data.functionReturnValue != nullptr) std::memcpy(&value, data.functionReturnValue, sizeof value);
  return value;
}

template <class Params>
const Params& params_of(const CUpti_NvtxData& data) {
  return *static_cast<const Params*>(data.functionParams);
}

void push(const void* domain, const std::string& text, WindowGate& gate) {
  stack.push_back({domain, ++last_id});
  gate.range_begins(stack.back().id, text);
}

/// Domains have stacks of their own.
void pop(const void* domain, WindowGate& gate) {
  const auto found =
      std::find_if(stack.rbegin(), stack.rend(), [&](const Pushed& one) { return one.domain == domain; });
  if (found == stack.rend()) return;
  gate.range_ends(found->id);
  stack.erase(std::next(found).base());
}

void name(const void* handle, std::string text) {
  if (handle == nullptr) return;
  const std::lock_guard lock(registered.mutex);
  registered.by_handle.insert_or_assign(handle, std::move(text));
}

}  // namespace

void take_nvtx_callback(CUpti_CallbackId id, const CUpti_NvtxData& data, WindowGate& gate) {
  if (data.functionParams == nullptr) return;
  const auto begin = [&](const std::string& text) {
    gate.range_begins(returned<nvtxRangeId_t>(data) | started, text);
  };
  switch (id) {
    case CUPTI_CBID_NVTX_nvtxRangePushA:
      return push(nullptr, text_of(params_of<nvtxRangePushA_params>(data).message), gate);
    case CUPTI_CBID_NVTX_nvtxRangePushW:
      return push(nullptr, narrow(params_of<nvtxRangePushW_params>(data).message), gate);
    case CUPTI_CBID_NVTX_nvtxRangePushEx:
      return push(nullptr, text_of(params_of<nvtxRangePushEx_params>(data).eventAttrib), gate);
    case CUPTI_CBID_NVTX_nvtxDomainRangePushEx: {
      const auto& params = params_of<nvtxDomainRangePushEx_params>(data);
      return push(params.domain, text_of(params.core.eventAttrib), gate);
    }
    case CUPTI_CBID_NVTX_nvtxRangePop:
      return pop(nullptr, gate);
    case CUPTI_CBID_NVTX_nvtxDomainRangePop:
      return pop(params_of<nvtxDomainRangePop_params>(data).domain, gate);
    case CUPTI_CBID_NVTX_nvtxRangeStartA:
      return begin(text_of(params_of<nvtxRangeStartA_params>(data).message));
    case CUPTI_CBID_NVTX_nvtxRangeStartW:
      return begin(narrow(params_of<nvtxRangeStartW_params>(data).message));
    case CUPTI_CBID_NVTX_nvtxRangeStartEx:
      return begin(text_of(params_of<nvtxRangeStartEx_params>(data).eventAttrib));
    case CUPTI_CBID_NVTX_nvtxDomainRangeStartEx:
      return begin(text_of(params_of<nvtxDomainRangeStartEx_params>(data).core.eventAttrib));
    case CUPTI_CBID_NVTX_nvtxRangeEnd:
      return gate.range_ends(params_of<nvtxRangeEnd_params>(data).id | started);
    case CUPTI_CBID_NVTX_nvtxDomainRangeEnd:
      return gate.range_ends(params_of<nvtxDomainRangeEnd_params>(data).core.id | started);
    case CUPTI_CBID_NVTX_nvtxDomainRegisterStringA:
      return name(returned<nvtxStringHandle_t>(data),
                  text_of(params_of<nvtxDomainRegisterStringA_params>(data).string));
    case CUPTI_CBID_NVTX_nvtxDomainRegisterStringW:
      return name(
          returned<nvtxStringHandle_t>(data),
          narrow(reinterpret_cast<const wchar_t*>(params_of<nvtxDomainRegisterStringW_params>(data).string)));
    default:
      return;
  }
}

}  // namespace mprof::injection
