// SPDX-License-Identifier: MIT
// A fleet: a heat map of many GPUs and times, too small for figures. See charts.js for the rules.

var mprof_fleet_labels = 130;  // px, for the names of times, which stand upright
var mprof_fleet_row = 18;

// A place on the map: its shade, and a cross where its bits are others than the fleet's.
function mprof_fleet_cell(point, series, theme, api) {
  var middle = api.coord([point.column, point.row]), size = api.size([1, 1]);
  var gap = size[0] > 6 ? 1 : 0.5, width = Math.max(size[0] - 2 * gap, 1), height = size[1] - 2;
  var children = [{
    type: 'rect', shape: { x: middle[0] - width / 2, y: middle[1] - height / 2, width: width, height: height },
    style: { fill: series.shade < 0 ? theme.faint : theme.heat[series.shade] }
  }];
  if (point.crossed) {
    var arm = Math.min(width, height) / 2 - 1, ink = series.shade < 0 ? theme.text : theme.heat_text[series.shade];
    [-1, 1].forEach(function (slope) {
      children.push({
        type: 'line', silent: true,
        shape: { x1: middle[0] - arm, y1: middle[1] - slope * arm, x2: middle[0] + arm, y2: middle[1] + slope * arm },
        style: { stroke: ink, lineWidth: 2 }
      });
    });
  }
  return { type: 'group', children: children };
}

function mprof_fleet_map(view, theme, width) {
  var option = mprof_heat_map(view, theme, width);
  option.grid.left -= 20;
  option.grid.bottom = mprof_fleet_labels;
  option.yAxis.name = '';
  option.xAxis.name = '';
  option.xAxis.axisLabel = {
    color: theme.muted, fontSize: 11, rotate: 90, width: mprof_fleet_labels - 12, overflow: 'truncate', hideOverlap: true
  };
  option.series.forEach(function (drawn, index) {
    var series = view.series[index];
    drawn.renderItem = function (params, api) { return mprof_fleet_cell(series.points[params.dataIndex], series, theme, api); };
  });
  return option;
}

mprof_kinds.fleet_map = mprof_fleet_map;
mprof_symbol_widths.fleet_map = mprof_symbol_widths.dots;
mprof_heights.fleet_map = function (view, width) {
  return 40 + mprof_fleet_labels + mprof_legend_line * mprof_more_legend(view, width) + mprof_fleet_row * view.rows.length;
};
