// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/judge/likeness.hpp"
#include "system/clock.hpp"

/// A folder of hand-ins: each is judged by a process of its own, within seconds, and one page shows them all.
namespace mprof {

struct HandIn {
  std::string name{};  ///< of its folder, or of its file without the ending
  std::filesystem::path file{};
  bool is_alone = false;  ///< it is one file in a folder of hand-ins
  std::string refused{};  ///< why it is not judged; empty: it is
};

/// The sources in a folder, and its folders, in the order of their names; not `starter`, and neither `out`
/// nor hidden folders. A folder that has not just one source is refused, and costs no other one its
/// judgement. Throws Error(usage) where the folder has no hand-in, two have one name, or the folder itself is
/// `out`.
[[nodiscard]] std::vector<HandIn> find_hand_ins(const std::filesystem::path& folder,
                                                const std::filesystem::path& starter,
                                                const std::filesystem::path& out);

struct JudgedHandIn {
  HandIn hand_in{};
  nlohmann::ordered_json answer{};  ///< as `mprof judge FILE --json` prints it; null: it gave no answer
  std::string failure{};            ///< why not
  double seconds = 0;
  std::string report{};  ///< of a right one that was measured, below ClassRequest::out; empty: of another
};

struct ClassRequest {
  std::vector<HandIn> hand_ins{};
  std::filesystem::path starter{};     ///< what all were given; empty: nothing
  std::vector<std::string> options{};  ///< of `mprof judge`, for each
  std::filesystem::path out{};         ///< a folder for each hand-in goes there
  double limit = 0;                    ///< s, for one hand-in in all
  const Clock& clock;
  int interrupt_fd = -1;
  std::function<void(const JudgedHandIn& judged)> on_judged = [](const JudgedHandIn&) {};
};

struct ClassJudgement {
  std::vector<JudgedHandIn> judged{};
  std::vector<AlikePair> alike{};           ///< by the places of `judged`
  std::vector<std::string> not_compared{};  ///< names of hand-ins that are too large for that
  bool was_interrupted = false;
};

/// What goes wrong with one hand-in is in its answer, and the others are judged all the same.
[[nodiscard]] ClassJudgement judge_class(const ClassRequest& request);

/// What docs/formats/judge-json.md describes as the class.
[[nodiscard]] nlohmann::ordered_json class_json(const ClassJudgement& judgement);
/// Who is right and who is fast, as plain text of at most `width` columns.
[[nodiscard]] std::string class_text(const ClassJudgement& judgement, std::size_t width);
/// The same as a page that needs nothing else.
[[nodiscard]] std::string class_html(const ClassJudgement& judgement);

}  // namespace mprof
