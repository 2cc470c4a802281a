// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mprof::trace {

/// A number for each id of a process, such as a correlation id. Ids that count up take few bytes each, and
/// are found at once where they come in their order.
class IdMap {
 public:
  IdMap() = default;
  IdMap(const IdMap&) = delete;
  IdMap& operator=(const IdMap&) = delete;
  ~IdMap() = default;

  /// The number of an id, to be set; 0 when it is new.
  std::uint32_t& operator()(std::int64_t process, std::int64_t id) {
    const Key key = key_of(process, id);
    if (last_ == nullptr || !(last_->first == key)) last_ = &*pages_.try_emplace(key).first;
    return last_->second.at(place_of(id));
  }
  /// 0: none.
  [[nodiscard]] std::uint32_t find(std::int64_t process, std::int64_t id) {
    const Key key = key_of(process, id);
    if (last_ == nullptr || !(last_->first == key)) {
      const auto found = pages_.find(key);
      if (found == pages_.end()) return 0;
      last_ = &*found;
    }
    return last_->second.at(place_of(id));
  }
  /// Calls visit(id, number) for each number that is not 0, by process and id.
  template <class Visit>
  void for_each_in_order(const Visit& visit) const {
    std::vector<const Page*> pages;
    pages.reserve(pages_.size());
    for (const Page& page : pages_) pages.push_back(&page);
    std::ranges::sort(pages, {},
                      [](const Page* page) { return std::pair(page->first.process, page->first.page); });
    for (const Page* page : pages) {
      for (std::size_t i = 0; i < ids_of_page; ++i) {
        if (const std::uint32_t number = page->second.at(i); number != 0)
          visit(page->first.page * std::int64_t{ids_of_page} + static_cast<std::int64_t>(i), number);
      }
    }
  }

 private:
  static constexpr std::size_t ids_of_page = 64;
  struct Key {
    std::int64_t process = 0;
    std::int64_t page = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      constexpr std::size_t golden = 0x9E3779B97F4A7C15U;  // spreads numbers that follow each other
      return (static_cast<std::size_t>(key.page) ^ static_cast<std::size_t>(key.process) * golden) * golden;
    }
  };
  using Pages = std::unordered_map<Key, std::array<std::uint32_t, ids_of_page>, Hash>;
  using Page = Pages::value_type;

  static Key key_of(std::int64_t process, std::int64_t id) {
    return {process, (id - static_cast<std::int64_t>(place_of(id))) / std::int64_t{ids_of_page}};
  }
  static std::size_t place_of(std::int64_t id) { return static_cast<std::size_t>(id) % ids_of_page; }

  Pages pages_;
  Page* last_ = nullptr;  ///< nodes of an unordered_map stay where they are
};

}  // namespace mprof::trace
