// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/views/views.hpp"

/// What the views of all charts are made of.
namespace mprof {

inline constexpr std::size_t longest_chart_label = 32;

/// Rows of a chart: more of them nobody compares, and the tables have all.
inline constexpr std::size_t most_chart_rows = 40;

/// " Drawn are the 40 best of 125." where not all are; otherwise nothing.
[[nodiscard]] std::string how_many_are_drawn(std::size_t all);

/// Points of a chart over problems or values: more of them lie on each other.
inline constexpr std::size_t most_chart_points = 200;

/// Problems of a chart that shows each by its colour and form.
inline constexpr std::size_t most_chart_problems = 24;
/// However many rows a chart has, both ends of its problems and what lies at their extremes.
inline constexpr std::size_t fewest_thinned_problems = 4;

/// " Drawn are 24 of 2,000 sizes, evenly chosen, ..." where not all are; otherwise nothing.
[[nodiscard]] std::string thinned_text(std::size_t drawn, std::size_t all, const std::string& several);

/// At most `most` of `count` places along an axis, ascending: the places that must be there, both ends, and
/// others at even distances between them. `most` is at least 2.
[[nodiscard]] std::vector<std::size_t> places_to_draw(std::size_t count, std::size_t most,
                                                      std::span<const std::size_t> needed = {});

struct ChartText {
  std::string title;
  std::string caption;
  std::string axis;
};

/// A variant's name without its family, which all rows share.
[[nodiscard]] std::string row_label(const VariantResult& variant);

/// A chart without rows or series; `id` is its anchor, and its file's name.
[[nodiscard]] nlohmann::json chart_view(std::string_view kind, const std::string& id, const ChartText& text);

/// What a chart is about, by which a reader chooses the ones to see: an op (empty: the whole), and a problem
/// unless its series are of several problems. A chart without a subject is always shown.
void set_subject(nlohmann::json& chart, const std::string& op, const Problem* problem = nullptr);

/// What the chart says to somebody who cannot see it.
[[nodiscard]] std::string alternative(const std::string& title, const nlohmann::json& rows);

/// The charts of a Speed-of-Light section about one op: throughput over the baseline's, stall reasons,
/// roofline. An empty object where there is nothing to draw.
[[nodiscard]] nlohmann::json kernel_throughput_chart(const FamilyResult& family, const std::string& op,
                                                     const std::string& id);
[[nodiscard]] nlohmann::json stall_chart(const FamilyResult& family, const std::string& op,
                                         const std::string& id);
[[nodiscard]] nlohmann::json instruction_chart(const FamilyResult& family, const std::string& op,
                                               const std::string& id);
[[nodiscard]] nlohmann::json roofline_chart(const FamilyResult& family, const std::string& op,
                                            const std::string& id);

}  // namespace mprof
