#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "report/views/views.hpp"

/// What the views of all charts are made of.
namespace mprof {

inline constexpr std::size_t longest_chart_label = 32;

/// Rows of a chart: more of them nobody compares, and the tables have all.
inline constexpr std::size_t most_chart_rows = 40;

/// " Drawn are the 40 best of 125." where not all are; otherwise nothing.
[[nodiscard]] std::string how_many_are_drawn(std::size_t all);

struct ChartText {
  std::string title;
  std::string caption;
  std::string axis;
};

/// A variant's name without its family, which all rows share.
[[nodiscard]] std::string row_label(const VariantResult& variant);

/// A chart without rows or series; `id` is its anchor, and its file's name.
[[nodiscard]] nlohmann::json chart_view(std::string_view kind, const std::string& id, const ChartText& text);

/// What a chart is about, by which a reader chooses the ones to see: an op (empty: the whole), and a
/// problem unless its series tell problems apart. A chart without a subject is always shown.
void set_subject(nlohmann::json& chart, const std::string& op, const Problem* problem = nullptr);

/// What the chart says to somebody who cannot see it.
[[nodiscard]] std::string alternative(const std::string& title, const nlohmann::json& rows);

/// The charts of a Speed-of-Light section about one op: throughput over the baseline's, stall reasons,
/// roofline. An empty object where nothing is to be drawn.
[[nodiscard]] nlohmann::json kernel_throughput_chart(const FamilyResult& family, const std::string& op,
                                                     const std::string& id);
[[nodiscard]] nlohmann::json stall_chart(const FamilyResult& family, const std::string& op,
                                         const std::string& id);
[[nodiscard]] nlohmann::json roofline_chart(const FamilyResult& family, const std::string& op,
                                            const std::string& id);

}  // namespace mprof
