// SPDX-License-Identifier: MIT
// Ranks and steps: a heat map of many, too small for figures. See charts.js for the rules.

var mprof_rank_row = 16;

function mprof_rank_cell(point, series, theme, api) {
  var middle = api.coord([point.column, point.row]), size = api.size([1, 1]);
  var width = Math.max(size[0] - (size[0] > 6 ? 1 : 0), 1), height = size[1] - 1;
  return {
    type: 'rect', shape: { x: middle[0] - width / 2, y: middle[1] - height / 2, width: width, height: height },
    style: { fill: theme.heat[series.shade] }
  };
}

function mprof_rank_map(view, theme, width) {
  var option = mprof_heat_map(view, theme, width);
  option.grid.bottom = 44;
  option.xAxis.name = view.axis.x;
  option.xAxis.nameLocation = 'middle';
  option.xAxis.nameGap = 26;
  option.xAxis.nameTextStyle = { color: theme.muted, fontSize: 12 };
  option.yAxis.axisLabel = { color: theme.text, fontSize: 11, hideOverlap: true };
  option.series.forEach(function (drawn, index) {
    var series = view.series[index];
    drawn.renderItem = function (params, api) { return mprof_rank_cell(series.points[params.dataIndex], series, theme, api); };
  });
  return option;
}

mprof_kinds.rank_map = mprof_rank_map;
mprof_symbol_widths.rank_map = mprof_symbol_widths.dots;
mprof_heights.rank_map = function (view, width) {
  return 80 + mprof_legend_line * mprof_more_legend(view, width) + Math.max(mprof_rank_row * view.rows.length, 60);
};
