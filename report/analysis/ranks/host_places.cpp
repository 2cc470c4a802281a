// SPDX-License-Identifier: MIT
#include "report/analysis/ranks/host_places.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/trace/op_name.hpp"

namespace mprof {
namespace {

constexpr std::size_t most_places = 24;

struct Segment {
  trace::Interval time{};
  const std::string* name = nullptr;
};

/// Each moment that a range covers, with the name of the innermost one. `name_of(range)` is nullptr for a
/// range that does not count, where the one around it does.
template <class NameOf>
std::vector<Segment> innermost(const std::vector<const trace::Range*>& ranges, const NameOf& name_of) {
  struct Open {
    std::int64_t end = 0;
    const std::string* name = nullptr;
  };
  std::vector<Segment> segments;
  std::vector<Open> open;
  std::int64_t at = 0;
  const auto emit = [&](std::int64_t end) {
    if (end <= at) return;
    if (open.back().name != nullptr) segments.push_back({{at, end}, open.back().name});
    at = end;
  };
  const auto close_until = [&](std::int64_t time) {
    while (!open.empty() && open.back().end <= time) {
      emit(open.back().end);
      open.pop_back();
    }
  };
  for (const trace::Range* range : ranges) {
    close_until(range->time.start);
    if (!open.empty()) emit(range->time.start);
    at = std::max(at, range->time.start);
    const std::string* const name = name_of(*range);
    open.push_back({range->time.end, name != nullptr || open.empty() ? name : open.back().name});
  }
  while (!open.empty()) {
    emit(open.back().end);
    open.pop_back();
  }
  return segments;
}

/// The ranges of the thread that they cover longest, by their starts.
std::vector<const trace::Range*> of_longest_thread(const std::vector<trace::Range>& ranges) {
  std::unordered_map<std::int64_t, std::pair<std::int64_t, std::vector<const trace::Range*>>> threads;
  for (const trace::Range& range : ranges) {
    if (range.style == trace::RangeStyle::mark || range.style == trace::RangeStyle::extent) continue;
    auto& [length, of] = threads[range.thread];
    length += range.time.length();
    of.push_back(&range);
  }
  if (threads.empty()) return {};
  const auto longest =
      std::ranges::max_element(threads, {}, [](const auto& one) { return one.second.first; });
  std::vector<const trace::Range*>& found = longest->second.second;
  std::ranges::stable_sort(
      found, {}, [](const trace::Range* range) { return std::pair(range->time.start, -range->time.end); });
  return found;
}

/// A function of the program, as "train.py(42): load": none that is built in, and none of a library that is
/// known. PyTorch takes the folders of sys.path off, so that a library begins with its module.
bool is_own_function(std::string_view name) {
  constexpr std::string_view of_libraries[] = {"site-packages/", "dist-packages/", "lib/python", "<frozen"};
  constexpr std::string_view modules[] = {
      "torch/",        "torchvision/",  "torchaudio/",   "torchdata/",     "numpy/",
      "scipy/",        "pandas/",       "pyarrow/",      "PIL/",           "cv2/",
      "h5py/",         "datasets/",     "transformers/", "tokenizers/",    "accelerate/",
      "deepspeed/",    "lightning/",    "megatron/",     "nvidia/",        "triton/",
      "fsspec/",       "webdataset/",   "tqdm/",         "json/",          "multiprocessing/",
      "concurrent/",   "asyncio/",      "collections/",  "importlib/",     "logging/",
      "encodings/",    "http/",         "urllib/",       "threading.py(",  "queue.py(",
      "selectors.py(", "socket.py(",    "ssl.py(",       "subprocess.py(", "contextlib.py(",
      "functools.py(", "pickle.py(",    "copy.py(",      "random.py(",     "os.py(",
      "gzip.py(",      "zipfile.py(",   "tarfile.py(",   "tempfile.py(",   "shutil.py(",
      "codecs.py(",    "re.py(",        "typing.py(",    "weakref.py(",    "enum.py(",
      "inspect.py(",   "traceback.py(", "warnings.py(",  "posixpath.py(",  "runpy.py("};
  return name.find(".py(") != name.npos &&
         std::ranges::none_of(modules, [&](std::string_view module) { return name.starts_with(module); }) &&
         std::ranges::none_of(of_libraries,
                              [&](std::string_view word) { return name.find(word) != name.npos; });
}

class Places {
 public:
  explicit Places(const std::array<trace::IntervalSet, budget_parts>& idle) : idle_(idle) {}

  void add(const std::vector<Segment>& segments, bool is_line) {
    for (const Segment& segment : segments) {
      for (std::size_t part = 0; part < budget_parts; ++part) {
        const std::int64_t time = length_within(idle_.at(part).intervals(), segment.time);
        if (time > 0) times_[{segment.name, part, is_line}] += time;
      }
    }
  }

  [[nodiscard]] std::vector<RankPlace> longest() const {
    std::vector<RankPlace> places;
    for (const auto& [key, time] : times_) {
      const auto& [name, part, is_line] = key;
      places.push_back({*name, static_cast<BudgetPart>(part), is_line, time});
    }
    std::ranges::sort(places, {},
                      [](const RankPlace& one) { return std::tuple(-one.time, one.name, one.part); });
    if (places.size() > most_places) places.resize(most_places);
    return places;
  }

 private:
  const std::array<trace::IntervalSet, budget_parts>& idle_;
  std::map<std::tuple<const std::string*, std::size_t, bool>, std::int64_t> times_;  ///< ns
};

}  // namespace

std::vector<RankPlace> host_places(const trace::Trace& own,
                                   const std::array<trace::IntervalSet, budget_parts>& idle,
                                   const std::vector<std::string>& steps) {
  Places places(idle);
  std::map<trace::NameIndex, std::optional<std::string>> ranges, functions;
  const auto range_name = [&](const trace::Range& range) -> const std::string* {
    const auto [entry, is_new] = ranges.try_emplace(range.name);
    if (is_new) {
      std::string name = trace::without_numbers(own.text_of(range));
      if (std::ranges::find(steps, name) == steps.end()) entry->second = std::move(name);
    }
    return entry->second ? &*entry->second : nullptr;
  };
  const auto function_name = [&](const trace::Range& frame) -> const std::string* {
    const auto [entry, is_new] = functions.try_emplace(frame.name);
    if (is_new && is_own_function(own.names[frame.name])) entry->second = own.names[frame.name];
    return entry->second ? &*entry->second : nullptr;
  };
  places.add(innermost(of_longest_thread(own.ranges), range_name), false);
  places.add(innermost(of_longest_thread(own.frames), function_name), true);
  return places.longest();
}

}  // namespace mprof
