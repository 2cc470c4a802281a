// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "report/export/gzip_file.hpp"
#include "report/export/perfetto_sink.hpp"

/// Perfetto's own format, protos/perfetto/trace of its repository. Slices come thread by thread, and not in
/// the order of their times over all threads, which Perfetto's importer sorts.
namespace mprof {
namespace {

/// The numbers of the fields that are written.
namespace field {
constexpr std::uint32_t packet = 1;
// Of a TracePacket
constexpr std::uint32_t timestamp = 8, sequence = 10, track_event = 11, interned_data = 12, flags = 13,
                        track_descriptor = 60;
// Of InternedData, and of its entries
constexpr std::uint32_t categories = 1, event_names = 2, argument_names = 3, argument_texts = 29;
constexpr std::uint32_t entry_id = 1, entry_text = 2;
// Of a TrackDescriptor, and of its process
constexpr std::uint32_t track_id = 1, track_name = 2, track_process = 3, parent = 5, track_counter = 8,
                        child_order = 11, rank = 12, description = 14, process_order = 19;
constexpr std::uint32_t process_id = 1, process_name = 6, process_labels = 8;
// Of a TrackEvent
constexpr std::uint32_t category_id = 3, arguments = 4, type = 9, event_name = 10, event_track = 11,
                        counted = 44, arrows_from = 47, arrow_to = 48;
// Of a DebugAnnotation
constexpr std::uint32_t argument_name = 1, integer = 4, elements = 12, text_id = 17;
}  // namespace field

constexpr std::uint64_t slice_begin = 1, slice_end = 2, count_event = 4;
constexpr std::uint64_t state_cleared = 1, state_needed = 2;
constexpr std::uint64_t only_sequence = 1;
constexpr std::uint64_t explicit_children = 3, explicit_processes = 1;

/// A message of protobuf's wire format.
class ProtoMessage {
 public:
  void number(std::uint32_t of, std::uint64_t value) {
    key(of, 0);
    varint(value);
  }
  void fixed(std::uint32_t of, std::uint64_t value) {
    constexpr int bytes = 8;
    key(of, 1);
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (bytes * i));
  }
  void text(std::uint32_t of, std::string_view value) {
    key(of, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t of, const ProtoMessage& value) { text(of, value.bytes_); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

 private:
  void key(std::uint32_t of, std::uint32_t wire_type) { varint(std::uint64_t{of} << 3 | wire_type); }
  void varint(std::uint64_t value) {
    constexpr std::uint64_t more = 0x80;
    for (; value >= more; value >>= 7) bytes_ += static_cast<char>(value | more);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

class PerfettoProtobuf final : public PerfettoSink {
 public:
  explicit PerfettoProtobuf(const std::filesystem::path& file) : file_(file) {
    ProtoMessage root;  // newer versions of Perfetto sort the processes by their ranks then
    root.number(field::track_id, 0);
    root.number(field::process_order, explicit_processes);
    add_descriptor(root);
  }

  PerfettoText text(std::string_view text) override {
    texts_.emplace_back(text);
    return static_cast<PerfettoText>(texts_.size() - 1);
  }

  void about(const std::vector<std::pair<std::string, std::string>>& facts) override {
    for (const auto& [name, fact] : facts) about_ += (about_.empty() ? "" : "; ") + name + ": " + fact;
  }

  void process(std::uint64_t process, std::string_view name, std::uint64_t order,
               std::string_view label) override {
    process_ = process;
    ProtoMessage of_process;
    of_process.number(field::process_id, process);
    of_process.text(field::process_name, name);
    if (!label.empty()) of_process.text(field::process_labels, label);
    ProtoMessage track;
    track.number(field::track_id, process);
    track.message(field::track_process, of_process);
    track.text(field::description, about_);
    track.number(field::child_order, explicit_children);
    track.number(field::rank, order);
    add_descriptor(track);
  }

  void thread(std::uint64_t thread, std::string_view name, std::uint64_t order) override {
    ProtoMessage track;
    track.number(field::track_id, thread);
    track.text(field::track_name, name);
    track.number(field::parent, process_);
    track.number(field::rank, order);
    add_descriptor(track);
  }

  void slice(const PerfettoSlice& slice) override {
    std::vector<std::int64_t>& open = open_[slice.thread];
    while (!open.empty() && open.back() <= slice.time.start) end_slice(slice.thread, open);
    event_.clear();
    interned_.clear();
    event_.number(field::category_id, id_of(categories_, slice.category, field::categories));
    for (const PerfettoArgument& argument : slice.arguments) add(argument);
    event_.number(field::type, slice_begin);
    event_.number(field::event_name, id_of(names_, slice.name, field::event_names));
    event_.number(field::event_track, slice.thread);
    for (std::uint64_t i = 0; i < slice.arrows; ++i) event_.fixed(field::arrows_from, slice.first_arrow + i);
    if (slice.arrow.id != 0) event_.fixed(field::arrow_to, slice.arrow.id);
    add_event(slice.time.start);
    open.push_back(slice.time.end);
  }

  void counter(std::uint64_t track, std::string_view name, std::uint64_t order) override {
    ProtoMessage of_counter;
    of_counter.number(field::track_id, track);
    of_counter.text(field::track_name, name);
    of_counter.number(field::parent, process_);
    of_counter.message(field::track_counter, {});
    of_counter.number(field::rank, order);
    add_descriptor(of_counter);
  }

  void count(std::uint64_t track, std::int64_t time, double value) override {
    event_.clear();
    interned_.clear();
    event_.number(field::type, count_event);
    event_.number(field::event_track, track);
    event_.fixed(field::counted, std::bit_cast<std::uint64_t>(value));
    add_event(time);
  }

  void end_threads() override {
    for (auto& [thread, open] : open_) {
      while (!open.empty()) end_slice(thread, open);
    }
    open_.clear();
  }

  void commit() override { file_.commit(); }

 private:
  /// The id of what is written once and then named by a number; it is written with the event where it is new.
  template <class Key>
  std::uint64_t id_of(std::unordered_map<Key, std::uint64_t>& known, const Key& key, std::uint32_t of) {
    const auto [entry, is_new] = known.try_emplace(key, known.size() + 1);
    if (is_new) {
      ProtoMessage row;
      row.number(field::entry_id, entry->second);
      if constexpr (std::is_same_v<Key, PerfettoText>) {
        row.text(field::entry_text, texts_[key]);
      } else {
        row.text(field::entry_text, key);
      }
      interned_.message(of, row);
    }
    return entry->second;
  }

  void add(const PerfettoArgument& argument) {
    argument_.clear();
    argument_.number(field::argument_name, id_of(argument_names_, argument.name, field::argument_names));
    if (const auto* const number = std::get_if<std::int64_t>(&argument.value)) {
      argument_.number(field::integer, static_cast<std::uint64_t>(*number));
    } else if (const auto* const size = std::get_if<trace::Size>(&argument.value)) {
      for (const std::int32_t axis : *size) {
        element_.clear();
        element_.number(field::integer, static_cast<std::uint64_t>(std::int64_t{axis}));
        argument_.message(field::elements, element_);
      }
    } else {
      const PerfettoText text = std::get<PerfettoText>(argument.value);
      argument_.number(field::text_id, id_of(argument_texts_, text, field::argument_texts));
    }
    event_.message(field::arguments, argument_);
  }

  void end_slice(std::uint64_t thread, std::vector<std::int64_t>& open) {
    event_.clear();
    interned_.clear();
    event_.number(field::type, slice_end);
    event_.number(field::event_track, thread);
    add_event(open.back());
    open.pop_back();
  }

  void add_event(std::int64_t time) {
    packet_.clear();
    packet_.number(field::timestamp, static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0)));
    packet_.message(field::track_event, event_);
    add_packet();
  }

  void add_descriptor(const ProtoMessage& track) {
    packet_.clear();
    packet_.message(field::track_descriptor, track);
    interned_.clear();
    add_packet();
  }

  void add_packet() {
    packet_.number(field::sequence, only_sequence);
    packet_.number(field::flags, is_first_ ? state_cleared | state_needed : state_needed);
    is_first_ = false;
    if (!interned_.empty()) packet_.message(field::interned_data, interned_);
    whole_.clear();
    whole_.message(field::packet, packet_);
    file_.write(whole_.bytes());
  }

  GzipFile file_;
  bool is_first_ = true;
  std::uint64_t process_ = 0;
  std::string about_;
  std::vector<std::string> texts_{std::string()};
  std::unordered_map<std::string_view, std::uint64_t> categories_, argument_names_;  ///< of constants
  std::unordered_map<PerfettoText, std::uint64_t> names_, argument_texts_;
  std::map<std::uint64_t, std::vector<std::int64_t>> open_;  ///< by thread: the ends of open slices
  ProtoMessage event_, argument_, element_, interned_, packet_, whole_;
};

}  // namespace

std::unique_ptr<PerfettoSink> perfetto_protobuf(const std::filesystem::path& file) {
  return std::make_unique<PerfettoProtobuf>(file);
}

}  // namespace mprof
