// The library that NVTX loads into each process of a program in its timing pass (NVTX_INJECTION64_PATH): it
// writes when ranges began and ended, and nothing else; no CUPTI is loaded. A process that has no range does
// not load it.
#include <cstdint>
#include <cstdlib>
#include <cwchar>
#include <iterator>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include "injection/journal_writer.hpp"

namespace mprof::injection {
namespace {

constexpr std::size_t written_together = std::size_t{1} << 16;  // B

/// A domain or a registered string: NVTX hands its address around.
struct Named {
  std::string text;
};

struct OpenRange {
  std::int64_t start = 0;  ///< ns since 1970
  std::string text;
  const Named* domain = nullptr;  ///< the default one
};

thread_local std::vector<OpenRange> stack;

class RangeWriter {
 public:
  explicit RangeWriter(const char* folder) : journal_(folder, 0) {}

  void write(const OpenRange& range, bool is_of_thread) {
    const std::int64_t end = now();
    const std::lock_guard lock(mutex_);
    journal::Range entry{.start = range.start, .end = end};
    entry.thread = static_cast<std::uint32_t>(::gettid());
    entry.is_of_thread = is_of_thread ? 1 : 0;
    entry.text = journal_.text(range.text.c_str(), chunk_);
    entry.domain = range.domain == nullptr ? 0 : journal_.text(range.domain->text.c_str(), chunk_);
    chunk_.add_value(journal::Kind::range, entry);
    if (chunk_.bytes().size() >= written_together) flush();
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    if (journal_.is_of_another_process()) return;
    chunk_.add_value(journal::Kind::until, now());
    chunk_.add(journal::Kind::end, {});
    flush();
  }

  std::uint64_t begin(OpenRange range) {
    const std::lock_guard lock(mutex_);
    started_[++last_] = std::move(range);
    return last_;
  }

  void end(std::uint64_t id) {
    OpenRange range;
    {
      const std::lock_guard lock(mutex_);
      const auto found = started_.find(id);
      if (found == started_.end()) return;
      range = std::move(found->second);
      started_.erase(found);
    }
    write(range, false);
  }

 private:
  void flush() { journal_.write(std::exchange(chunk_, {})); }

  JournalWriter journal_;
  std::mutex mutex_;  ///< of what follows
  Chunk chunk_;
  std::unordered_map<std::uint64_t, OpenRange> started_;
  std::uint64_t last_ = 0;
};

/// Never destroyed: ranges end while the process does.
RangeWriter* writer = nullptr;

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
      return named != nullptr ? named->text : "";
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
  for (const OpenRange& range : stack) open += range.domain == domain ? 1 : 0;
  return open;
}

int push(const Named* domain, std::string text) {
  stack.push_back({now(), std::move(text), domain});
  return depth(domain) - 1;
}

/// Domains have stacks of their own.
int pop(const Named* domain) {
  for (auto range = stack.rbegin(); range != stack.rend(); ++range) {
    if (range->domain != domain) continue;
    writer->write(*range, true);
    stack.erase(std::next(range).base());
    return depth(domain);
  }
  return NVTX_NO_PUSH_POP_TRACKING;
}

nvtxRangeId_t begin(const Named* domain, std::string text) {
  return writer->begin({now(), std::move(text), domain});
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
  writer->end(id);
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
  writer->end(id);
}
nvtxDomainHandle_t create_domain(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Named{text_of(name)});
}
nvtxDomainHandle_t create_wide_domain(const wchar_t* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Named{narrow(name)});
}
nvtxStringHandle_t register_text(nvtxDomainHandle_t /*domain*/, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(new Named{text_of(text)});
}
nvtxStringHandle_t register_wide(nvtxDomainHandle_t /*domain*/, const wchar_t* text) {
  return reinterpret_cast<nvtxStringHandle_t>(new Named{narrow(text)});
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

std::mutex starting;

bool is_started() {
  const std::lock_guard lock(starting);
  if (writer != nullptr) return true;
  const char* const folder = std::getenv(journal::folder_variable);
  if (folder == nullptr) return false;
  writer = new RangeWriter(folder);
  std::atexit([] { writer->finish(); });
  return true;
}

}  // namespace
}  // namespace mprof::injection

#define MPROF_EXPORTED extern "C" __attribute__((visibility("default")))

/// NVTX's, in the first call of each module that has it: 0 turns NVTX off there.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name
MPROF_EXPORTED int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  const auto* const callbacks =
      get_export_table == nullptr
          ? nullptr
          : static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || !mprof::injection::is_started()) return 0;
  mprof::injection::take_calls(*callbacks);
  return 1;
}
