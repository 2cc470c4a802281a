// SPDX-License-Identifier: MIT
#include "model/trace/system_call_file.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "model/trace/nsys_schema.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::system_calls {
namespace {

std::vector<std::string> split(std::string_view names) {
  std::vector<std::string> all;
  for (std::size_t end = names.find('\0'); end != names.npos; end = names.find('\0')) {
    all.emplace_back(names.substr(0, end));
    names.remove_prefix(end + 1);
  }
  return all;
}

std::string name_in(const Record& record) {
  static_assert(sizeof record.start + sizeof record.end == thread_name_size);
  char text[thread_name_size] = {};
  std::memcpy(text, &record.start, sizeof record.start);
  std::memcpy(text + sizeof record.start, &record.end, sizeof record.end);
  text[thread_name_size - 1] = '\0';
  return text;
}

}  // namespace

CallFile read_file(const std::filesystem::path& file) {
  const std::string contents = mprof::read_file(file);
  Head head;
  if (contents.size() >= head_size) std::memcpy(&head, contents.data(), sizeof head);
  if (!std::ranges::equal(head.magic, magic) || head.names_size > head_size - sizeof head)
    throw Error(ExitCode::usage, file.string() + ": these are no calls that this version of mprof noted.");
  CallFile read{.process = head.process, .dropped = head.dropped};
  read.functions = split(std::string_view(contents).substr(sizeof head, head.names_size));
  if (!read.functions.empty()) {
    read.name = read.functions.front();
    read.functions.erase(read.functions.begin());
  }
  for (std::size_t at = head_size; at + sizeof(Record) <= contents.size(); at += sizeof(Record)) {
    Record record;
    std::memcpy(&record, contents.data() + at, sizeof record);
    if (record.end == 0) continue;
    if (record.name == thread_name) read.threads[record.thread] = name_in(record);
    if (record.name < read.functions.size()) read.records.push_back(record);
  }
  return read;
}

std::vector<CallFile> read_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension && entry.file_size() >= head_size)
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<CallFile> all;
  for (const std::filesystem::path& file : files) all.push_back(read_file(file));
  return all;
}

std::size_t add_calls(const CallFile& file, const trace::Interval& window, trace::Trace& trace) {
  const std::int64_t process = trace::nsys::global_process(file.process);
  std::vector<trace::NameIndex> names;
  for (const std::string& function : file.functions) names.push_back(trace.names.index(function));
  std::size_t added = 0;
  for (const Record& record : file.records) {
    if (record.start < window.start || record.end > window.end) continue;
    trace.system_calls.push_back({.time = {record.start, record.end},
                                  .thread = trace::nsys::global_thread(process, record.thread),
                                  .name = names[record.name],
                                  .versioned_name = names[record.name]});
    ++added;
  }
  for (const auto& [thread, name] : file.threads) {
    const std::int64_t id = trace::nsys::global_thread(process, thread);
    std::erase_if(trace.threads, [&](const trace::ThreadInfo& other) { return other.id == id; });
    trace.threads.push_back({id, name});
  }
  trace.system_call_threshold = threshold;
  return added;
}

}  // namespace mprof::system_calls
