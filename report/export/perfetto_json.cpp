// SPDX-License-Identifier: MIT
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/export/perfetto_sink.hpp"
#include "report/text/format.hpp"
#include "system/files.hpp"

/// Chrome's Trace Event JSON. What Perfetto's importer makes of the file sets these rules: a thread's name
/// goes by its tid alone, so no tid is used twice; of two slices with one start the outer one stands first in
/// the file; an arrow ("s", "f") binds to the slice that is open at its time, so it follows that slice in the
/// file.
namespace mprof {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... T>
Overloaded(T...) -> Overloaded<T...>;  // Clang 14 does not deduce it

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump();
}

class PerfettoJson final : public PerfettoSink {
 public:
  explicit PerfettoJson(const std::filesystem::path& file) : file_(file) {}

  PerfettoText text(std::string_view text) override {
    texts_.push_back(quoted(text));
    return static_cast<PerfettoText>(texts_.size() - 1);
  }

  void about(const std::vector<std::pair<std::string, std::string>>& facts) override {
    // Perfetto ignores what follows a key that it does not know.
    nlohmann::ordered_json about;
    for (const auto& [name, fact] : facts) about[name] = fact;
    file_.write(
        fmt::format("{{\"displayTimeUnit\":\"ns\",\n\"otherData\":{},\n\"traceEvents\":[", about.dump()));
  }

  void process(std::uint64_t process, std::string_view name, std::uint64_t order,
               std::string_view label) override {
    process_ = process;
    const auto describe = [&](std::string_view what, std::string_view key, const std::string& value) {
      event(R"({{"ph":"M","name":"{}","pid":{},"args":{{"{}":{}}}}})", what, process_, key, value);
    };
    describe("process_name", "name", quoted(name));
    describe("process_sort_index", "sort_index", fmt::format("{}", order));
    if (!label.empty()) describe("process_labels", "labels", quoted(label));
  }

  void thread(std::uint64_t thread, std::string_view name, std::uint64_t order) override {
    event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", process_, thread,
          quoted(name));
    event(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", process_,
          thread, order);
  }

  void slice(const PerfettoSlice& slice) override {
    arguments_.clear();
    for (const PerfettoArgument& argument : slice.arguments) {
      fmt::format_to(std::back_inserter(arguments_), R"({}"{}":)", arguments_.empty() ? "" : ",",
                     argument.name);
      std::visit(Overloaded{[&](std::int64_t number) { append("{}", number); },
                            [&](const trace::Size& size) { append("[{},{},{}]", size[0], size[1], size[2]); },
                            [&](PerfettoText text) { append("{}", texts_[text]); }},
                 argument.value);
    }
    event(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
          slice.category, texts_[slice.name], process_, slice.thread, format::microseconds(slice.time.start),
          format::microseconds(slice.time.length()), arguments_);
    if (slice.arrow.id != 0) add_arrow(slice);
  }

  void counter(std::uint64_t track, std::string_view name, std::uint64_t /*order*/) override {
    counters_[track] = quoted(name);
  }

  void count(std::uint64_t track, std::int64_t time, double value) override {
    event(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"value":{:.6g}}}}})", counters_[track], process_,
          format::microseconds(time), value);
  }

  void commit() override {
    file_.write("\n]}\n");
    file_.commit();
  }

 private:
  void add_arrow(const PerfettoSlice& slice) {
    ++arrows_;
    event(R"({{"ph":"s","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})", arrows_,
          process_, slice.arrow.thread, format::microseconds(slice.arrow.start));
    event(R"({{"ph":"f","bp":"e","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})",
          arrows_, process_, slice.thread, format::microseconds(slice.time.start));
  }

  template <class... Values>
  void append(fmt::format_string<Values...> text, const Values&... values) {
    fmt::vformat_to(std::back_inserter(arguments_), text, fmt::make_format_args(values...));
  }

  template <class... Values>
  void event(fmt::format_string<Values...> text, const Values&... values) {
    line_.clear();
    line_.append(std::string_view(first_ ? "\n" : ",\n"));
    first_ = false;
    fmt::vformat_to(std::back_inserter(line_), text, fmt::make_format_args(values...));
    file_.write({line_.data(), line_.size()});
  }

  FileWriter file_;
  std::vector<std::string> texts_{std::string()};  ///< quoted
  std::map<std::uint64_t, std::string> counters_;  ///< their names, quoted
  fmt::memory_buffer line_;
  std::string arguments_;
  bool first_ = true;
  std::uint64_t process_ = 0;
  std::uint64_t arrows_ = 0;
};

}  // namespace

std::unique_ptr<PerfettoSink> perfetto_json(const std::filesystem::path& file) {
  return std::make_unique<PerfettoJson>(file);
}

}  // namespace mprof
