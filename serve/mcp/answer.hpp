// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// What a tool answers: one sentence, rows, what was not measured and why, and calls that lead on. It fits
/// into a number of bytes, whatever a record holds.
namespace mprof::mcp {

using Json = nlohmann::ordered_json;

inline constexpr std::size_t usual_bytes = 8192;   ///< of an answer's JSON, unless a call says otherwise
inline constexpr std::size_t most_bytes = 16384;   ///< ever
inline constexpr std::size_t fewest_bytes = 2048;  ///< that a call may ask for
inline constexpr std::size_t most_rows = 50;

/// A call that cannot be answered for what it asks: its caller can change it and try again.
class Trouble : public std::runtime_error {
 public:
  /// `code`: a word for programs. `how`: what to do.
  Trouble(std::string code, const std::string& text, std::string how)
      : std::runtime_error(text), code_(std::move(code)), how_(std::move(how)) {}
  [[nodiscard]] const std::string& code() const noexcept { return code_; }
  [[nodiscard]] const std::string& how() const noexcept { return how_; }
  /// { code, text, how }, each on one line.
  [[nodiscard]] Json document() const;

 private:
  std::string code_;
  std::string how_;
};

/// Which part of its rows an answer shows.
struct Page {
  std::size_t first = 0;
  std::size_t limit = most_rows;
  std::size_t bytes = usual_bytes;
};

/// By the arguments `cursor`, `limit` and `max_bytes` of a call, where it has them, and otherwise of `bytes`.
/// Throws Trouble for a cursor that is no place behind a first page.
[[nodiscard]] Page page_of(const Json& arguments, std::size_t bytes = usual_bytes);

/// A number with four significant digits; what is no number is null.
[[nodiscard]] Json number(double value);

/// Text from a record or a trace as data: one line without control characters, at most `most` of them.
[[nodiscard]] std::string foreign(std::string_view text, std::size_t most = 256);

/// Whether a name from a record may stand in a sentence or in a call: letters, digits and a few signs of ids
/// and paths, and few of them. Text that could pass for an instruction has blanks.
[[nodiscard]] bool is_plain(std::string_view name);

/// What a row is called, the same in each run that has it: `name` where that is plain, otherwise `kind` and a
/// hash of it.
[[nodiscard]] std::string key_of(std::string_view kind, std::string_view name);

/// The bytes of its JSON, as it is sent.
[[nodiscard]] std::size_t size_of(const Json& document);

class Answer {
 public:
  /// `call`: what was asked, which the next page repeats.
  Answer(std::string tool, Json arguments);

  /// The sentence. Nothing foreign may be in it that is not plain.
  void say(std::string sentence) { sentence_ = std::move(sentence); }
  void add(Json row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::vector<Json>& rows() { return rows_; }
  [[nodiscard]] const std::vector<Json>& rows() const { return rows_; }
  /// What is missing, why, and what to do for it.
  void lack(std::string_view what, std::string_view why, std::string_view how);
  /// A call that leads on. It is left out where an argument is not plain.
  void lead_on(std::string_view tool, Json arguments);
  /// Members of rows that hold text of records and traces. `absent` and the reasons of add_value() and
  /// add_speed_up() are such text by themselves.
  void mark_foreign(std::vector<std::string> members) { foreign_ = std::move(members); }
  /// So many rows a page, where the call does not say.
  void set_usual_rows(std::size_t rows) { usual_rows_ = rows; }
  /// The units of the rows' numbers, by their names.
  void set_units(Json units) { units_ = std::move(units); }

  /// The document, of as many rows as fit. Throws Trouble for a page beyond the rows.
  [[nodiscard]] Json document(const Page& page) const;

 private:
  [[nodiscard]] Json untrusted() const;

  std::string tool_;
  Json arguments_;
  std::string sentence_;
  std::vector<Json> rows_;
  std::size_t usual_rows_ = most_rows;
  Json absent_ = Json::array();
  Json next_ = Json::array();
  std::vector<std::string> foreign_;
  Json units_;
};

}  // namespace mprof::mcp
