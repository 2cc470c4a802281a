// SPDX-License-Identifier: MIT
#include "injection/nvtx_payloads.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

/// Where the stack of the main thread ends.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): glibc's name
extern "C" void* __libc_stack_end;

namespace mprof::injection {
namespace {

constexpr std::size_t most_fields = 64;
constexpr std::size_t most_schemas = 4096;
constexpr std::size_t longest_name = 128;                       // B
constexpr std::size_t largest_payload = 512;                    // B; longer ones are cut
constexpr std::size_t written_together = std::size_t{1} << 16;  // B

NvtxPayloads* recorder = nullptr;
thread_local std::uint64_t begun = 0;

/// The kernel keeps so much below the stack of the main thread free of anything else.
constexpr std::uintptr_t below_main_stack = std::uintptr_t{128} << 20;  // B

struct Stack {
  std::uintptr_t low = 0, high = 0;
  [[nodiscard]] bool holds(std::uintptr_t address) const { return address >= low && address < high; }
};

/// Of the calling thread. Of the main one the system reads a file: once.
const Stack& own_stack() {
  thread_local const Stack stack = [] {
    Stack own;
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return own;
    void* low = nullptr;
    std::size_t size = 0;
    if (::pthread_attr_getstack(&attributes, &low, &size) == 0)
      own = {reinterpret_cast<std::uintptr_t>(low), reinterpret_cast<std::uintptr_t>(low) + size};
    ::pthread_attr_destroy(&attributes);
    return own;
  }();
  return stack;
}

bool is_on_main_stack(std::uintptr_t address) {
  const auto end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  return address <= end && end - address < below_main_stack;
}

/// Whether a payload can be one of the call that is made. NCCL 2.28 keeps the address that its first call of
/// a function had, on the stack of then, for all later calls: where these are made on another thread, or
/// deeper, something else lies there. What is no stack at all may be anything.
bool may_be_of_this_call(std::uintptr_t address) {
  if (own_stack().holds(address))
    return address > reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return !is_on_main_stack(address);
}

/// The program's errno must not change under it.
class KeptErrno {
 public:
  KeptErrno() = default;
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;
  ~KeptErrno() { errno = value_; }

 private:
  int value_ = errno;
};

std::uint64_t number_of(nvtxDomainHandle_t domain) {
  return reinterpret_cast<std::uintptr_t>(domain);
}

bool has(const nvtxPayloadSchemaAttr_t& attributes, std::uint64_t field) {
  return (attributes.fieldMask & field) != 0;
}

}  // namespace

bool NvtxPayloads::take_functions(const nvtxExtModuleInfo_t* module) {
  const bool is_known = module != nullptr && module->structSize >= sizeof *module &&
                        module->moduleId == NVTX_EXT_PAYLOAD_MODULEID && module->segmentsCount > 0 &&
                        module->segments != nullptr && module->segments->functionSlots != nullptr;
  if (!is_known) return false;
  recorder = this;
  const nvtxExtModuleSegment_t& functions = *module->segments;
  const auto set = [&](std::size_t id, auto* function) {
    // Older headers have the first two alone.
    if (id < functions.slotCount) functions.functionSlots[id] = reinterpret_cast<std::intptr_t>(function);
  };
  set(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, &register_schema);
  set(NVTX3EXT_CBID_nvtxRangePushPayload, &push_with_payload);
  set(NVTX3EXT_CBID_nvtxRangePopPayload, &pop_with_payload);
  return true;
}

std::uint64_t NvtxPayloads::register_schema(nvtxDomainHandle_t domain,
                                            const nvtxPayloadSchemaAttr_t* attributes) {
  const KeptErrno kept;
  return recorder->add_schema(number_of(domain), attributes);
}

/// CUPTI does not see this beginning of a range, so it is told of one that it knows. Its text is the name of
/// the payload's schema.
int NvtxPayloads::push_with_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload,
                                    std::size_t count) {
  std::string name;
  {
    const KeptErrno kept;
    if (count > 0) name = recorder->schema_name(number_of(domain), payload);
  }
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  if (count > 0) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(payload);
  }
  return nvtxDomainRangePushEx(domain, &attributes);
}

/// CUPTI does not see this end of a range, so it is told of one that it knows.
int NvtxPayloads::pop_with_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload,
                                   std::size_t count) {
  {
    const KeptErrno kept;
    if (count > 0)
      recorder->add_payload({.time = now(),
                             .domain = number_of(domain),
                             .thread = static_cast<std::uint32_t>(::gettid()),
                             .is_end = 1},
                            payload);
  }
  return nvtxDomainRangePop(domain);
}

void NvtxPayloads::begins(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  if (domain == nullptr) return;
  ++begun;
  if (attributes == nullptr || attributes->size < sizeof *attributes ||
      attributes->payloadType != NVTX_PAYLOAD_TYPE_EXT || attributes->reserved0 <= 0)
    return;
  const KeptErrno kept;
  if (!may_be_of_this_call(attributes->payload.ullValue)) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): NVTX has a number there
  const auto* const payload = reinterpret_cast<const nvtxPayloadData_t*>(attributes->payload.ullValue);
  add_payload({.time = now(),
               .domain = number_of(domain),
               .number = begun,
               .thread = static_cast<std::uint32_t>(::gettid())},
              payload);
}

void NvtxPayloads::flush() {
  Chunk chunk;
  {
    const std::lock_guard lock(mutex_);
    std::swap(chunk, chunk_);
  }
  if (!chunk.bytes().empty()) journal_.write(chunk);
}

/// Its id; 0 where it cannot be used.
std::uint64_t NvtxPayloads::add_schema(std::uint64_t domain, const nvtxPayloadSchemaAttr_t* attributes) {
  if (journal_.is_of_another_process()) return 0;
  nvtxPayloadSchemaAttr_t own{};
  const std::lock_guard lock(mutex_);
  // Headers before 2025 have no `extension`.
  if (schemas_.size() >= most_schemas ||
      !copy(attributes, &own, offsetof(nvtxPayloadSchemaAttr_t, extension)))
    return 0;
  if (!has(own, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES) ||
      !has(own, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES))
    return 0;
  std::vector<nvtxPayloadSchemaEntry_t> entries(std::min(own.numEntries, most_fields));
  if (entries.empty() || !copy(own.entries, entries.data(), entries.size() * sizeof entries.front()))
    return 0;
  const bool has_id = has(own, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) && own.schemaId != 0;
  const std::uint64_t id = has_id ? own.schemaId : NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + last_id_++;
  const journal::PayloadSchema schema{
      .domain = domain,
      .id = id,
      .size = has(own, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) ? own.payloadStaticSize : 0};
  std::string fields;
  for (const nvtxPayloadSchemaEntry_t& entry : entries) {
    const std::string name = copy_name(entry.name);
    const journal::PayloadField field{.type = entry.type,
                                      .flags = entry.flags,
                                      .offset = entry.offset,
                                      .name = name.empty() ? 0 : journal_.text(name.c_str(), chunk_)};
    fields.append(reinterpret_cast<const char*>(&field), sizeof field);
  }
  chunk_.add_value(journal::Kind::schema, schema, fields);
  schemas_[{domain, id}] = {.size = schema.size,
                            .name = has(own, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) ? copy_name(own.name) : ""};
  return id;
}

/// Empty where the schema is not known, or has none.
std::string NvtxPayloads::schema_name(std::uint64_t domain, const nvtxPayloadData_t* data) {
  nvtxPayloadData_t own{};
  const std::lock_guard lock(mutex_);
  if (!copy(data, &own, sizeof own)) return "";
  const auto schema = schemas_.find({domain, own.schemaId});
  return schema == schemas_.end() ? "" : schema->second.name;
}

void NvtxPayloads::add_payload(journal::Payload payload, const nvtxPayloadData_t* data) {
  if (journal_.is_of_another_process()) return;
  nvtxPayloadData_t own{};
  std::array<char, largest_payload> bytes{};
  bool is_much = false;
  {
    const std::lock_guard lock(mutex_);
    if (!copy(data, &own, sizeof own)) return;
    const auto schema = schemas_.find({payload.domain, own.schemaId});
    if (schema == schemas_.end()) return;
    // A size that is not given is the schema's.
    const std::size_t given =
        own.size == std::numeric_limits<std::size_t>::max() ? schema->second.size : own.size;
    const std::size_t size = std::min(given, bytes.size());
    if (size == 0 || !copy(own.payload, bytes.data(), size)) return;
    payload.schema = own.schemaId;
    chunk_.add_value(journal::Kind::payload, payload, {bytes.data(), size});
    is_much = chunk_.bytes().size() >= written_together;
  }
  if (is_much) flush();
}

/// Byte by byte: a name may end just before memory that is not there.
std::string NvtxPayloads::copy_name(const char* name) {
  std::string copied;
  char next = 0;
  while (name != nullptr && copied.size() < longest_name && copy(name + copied.size(), &next, 1) && next != 0)
    copied += next;
  return copied;
}

bool NvtxPayloads::copy(const void* from, void* to, std::size_t size) {
  if (from == nullptr || is_refused_) return false;
  const iovec own{to, size};
  const iovec theirs{const_cast<void*>(from), size};
  const ssize_t copied = ::process_vm_readv(::getpid(), &own, 1, &theirs, 1, 0);
  if (copied < 0 && (errno == EPERM || errno == ENOSYS)) {
    is_refused_ = true;
    journal_.note(
        "What NVTX ranges have attached is not recorded: the system does not let a process copy its memory "
        "by process_vm_readv().");
  }
  return copied == static_cast<ssize_t>(size);
}

}  // namespace mprof::injection
