// SPDX-License-Identifier: MIT
#include "inputs/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/json_archive.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "safetensors data is little-endian, and copied as it is");

constexpr std::size_t length_bytes = 8;
constexpr std::size_t max_header_bytes = 100'000'000;  // the format's own limit

[[noreturn]] void refuse_tensors(const std::string& name, std::string_view problem) {
  throw Error(ExitCode::usage,
              fmt::format("{}: {}. Restore the file from mprof's repository, or make it again with "
                          "tools/train_lenet.py.",
                          name, problem));
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The JSON header's text; the data begins where it ends.
std::string_view header_of(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() < length_bytes) {
    refuse_tensors(name, fmt::format("{} bytes long, expected at least the {} of the header's length",
                                     bytes.size(), length_bytes));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  const std::size_t available = bytes.size() - length_bytes;
  if (length > max_header_bytes || length > available) {
    refuse_tensors(name, fmt::format("says that its header has {} bytes, expected at most {}", length,
                                     std::min(available, max_header_bytes)));
  }
  return as_text(bytes.subspan(length_bytes, length));
}

/// JSON libraries keep one of two equal keys in silence; a file that has them has two meanings.
class DuplicateKeys {
 public:
  explicit DuplicateKeys(const std::string& name) : name_(name) {}

  bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second) {
      refuse_tensors(name_, fmt::format("the header has the key \"{}\" twice", parsed.get<std::string>()));
    }
    return true;
  }

 private:
  const std::string& name_;
  std::vector<std::set<std::string>> open_;
};

Json parse_header(std::string_view text, const std::string& name) {
  json::require_plain(text, name);
  Json header;
  try {
    header = Json::parse(text, DuplicateKeys(name));
  } catch (const Json::exception& error) {
    refuse_tensors(name, fmt::format("the header is no valid JSON ({})", error.what()));
  }
  if (!header.is_object())
    refuse_tensors(name, fmt::format("the header is a JSON {}, expected an object", header.type_name()));
  return header;
}

/// The member `key` of a tensor's entry as a list of sizes.
std::vector<std::size_t> sizes(const Json& entry, const char* key, const std::string& where) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array())
    refuse_tensors(where, fmt::format("has no list \"{}\"", key));
  std::vector<std::size_t> result;
  for (const Json& value : *found) {
    if (!value.is_number_unsigned()) {
      refuse_tensors(where, fmt::format("\"{}\" holds {}, expected whole numbers from 0", key,
                                        value.dump(-1, ' ', true, Json::error_handler_t::replace)));
    }
    result.push_back(value.get<std::size_t>());
  }
  return result;
}

std::size_t bytes_of(std::string_view dtype, const std::string& where) {
  if (dtype == "F32") return 4;
  if (dtype == "U8") return 1;
  refuse_tensors(where, fmt::format("has dtype {}, expected F32 or U8", dtype));
}

/// The bytes that a tensor of this shape has.
std::size_t byte_count(const std::vector<std::size_t>& shape, std::size_t element_bytes,
                       const std::string& where) {
  std::size_t count = element_bytes;
  for (const std::size_t extent : shape) {
    if (extent != 0 && count > std::numeric_limits<std::size_t>::max() / extent) {
      refuse_tensors(
          where, fmt::format("shape [{}] has more bytes than memory has addresses", fmt::join(shape, ", ")));
    }
    count *= extent;
  }
  return count;
}

Safetensors::Tensor parse_tensor(const Json& entry, std::size_t data_bytes, const std::string& where) {
  if (!entry.is_object())
    refuse_tensors(where, fmt::format("is a JSON {}, expected an object", entry.type_name()));
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) refuse_tensors(where, "has no \"dtype\"");
  Safetensors::Tensor tensor{.dtype = dtype->get<std::string>(), .shape = sizes(entry, "shape", where)};
  const std::vector<std::size_t> offsets = sizes(entry, "data_offsets", where);
  if (offsets.size() != 2)
    refuse_tensors(where, fmt::format("has {} data_offsets, expected 2", offsets.size()));
  tensor.begin = offsets[0];
  tensor.end = offsets[1];
  if (tensor.begin > tensor.end || tensor.end > data_bytes) {
    refuse_tensors(
        where,
        fmt::format("lies at bytes {} to {}, expected them in order and within the file's {} bytes of data",
                    tensor.begin, tensor.end, data_bytes));
  }
  const std::size_t expected = byte_count(tensor.shape, bytes_of(tensor.dtype, where), where);
  if (tensor.end - tensor.begin != expected) {
    refuse_tensors(where, fmt::format("has {} bytes, expected {} for {} [{}]", tensor.end - tensor.begin,
                                      expected, tensor.dtype, fmt::join(tensor.shape, ", ")));
  }
  return tensor;
}

/// Each byte of the data belongs to exactly one tensor.
void check_layout(const std::map<std::string, Safetensors::Tensor>& tensors, std::size_t data_bytes,
                  const std::string& name) {
  std::vector<std::pair<const Safetensors::Tensor*, std::string_view>> in_order;
  for (const auto& [key, tensor] : tensors) in_order.emplace_back(&tensor, key);
  std::ranges::sort(in_order, {},
                    [](const auto& item) { return std::pair(item.first->begin, item.first->end); });
  std::size_t end = 0;
  for (const auto& [tensor, key] : in_order) {
    if (tensor->begin != end) {
      refuse_tensors(name,
                     fmt::format("tensor \"{}\" begins at byte {} of the data, expected {}: tensors {}", key,
                                 tensor->begin, end, tensor->begin < end ? "overlap" : "leave a hole"));
    }
    end = tensor->end;
  }
  if (end != data_bytes)
    refuse_tensors(name, fmt::format("{} bytes of data, expected the {} of its tensors", data_bytes, end));
}

}  // namespace

Safetensors::Safetensors(std::span<const std::byte> bytes, std::string name) : name_(std::move(name)) {
  const std::string_view header_text = header_of(bytes, name_);
  const std::span<const std::byte> data = bytes.subspan(length_bytes + header_text.size());
  const Json header = parse_header(header_text, name_);
  for (const auto& [key, entry] : header.items()) {
    if (key == "__metadata__") continue;
    tensors_.emplace(key, parse_tensor(entry, data.size(), fmt::format("{}: tensor \"{}\"", name_, key)));
  }
  check_layout(tensors_, data.size(), name_);
  data_.assign(data.begin(), data.end());
}

Safetensors Safetensors::read(const std::filesystem::path& path) {
  std::string contents;
  try {
    contents = read_file(path);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{}. mprof needs the trained weights: data/lenet.safetensors of its "
                            "repository, or what tools/train_lenet.py writes.",
                            error.what()));
  }
  return {std::as_bytes(std::span(contents)), path.string()};
}

template <typename Element>
std::vector<Element> Safetensors::elements(const std::string& tensor, const char* dtype,
                                           std::span<const std::size_t> shape) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end()) refuse_tensors(name_, fmt::format("has no tensor \"{}\"", tensor));
  const Tensor& entry = found->second;
  if (entry.dtype != dtype || !std::ranges::equal(entry.shape, shape)) {
    refuse_tensors(name_, fmt::format("tensor \"{}\" is {} [{}], expected {} [{}]", tensor, entry.dtype,
                                      fmt::join(entry.shape, ", "), dtype, fmt::join(shape, ", ")));
  }
  std::vector<Element> result((entry.end - entry.begin) / sizeof(Element));
  if (!result.empty()) std::memcpy(result.data(), data_.data() + entry.begin, entry.end - entry.begin);
  return result;
}

std::vector<float> Safetensors::f32(const std::string& tensor, std::span<const std::size_t> shape) const {
  return elements<float>(tensor, "F32", shape);
}

std::vector<std::uint8_t> Safetensors::u8(const std::string& tensor,
                                          std::span<const std::size_t> shape) const {
  return elements<std::uint8_t>(tensor, "U8", shape);
}

}  // namespace mprof
