// SPDX-License-Identifier: MIT
// Two runs: ratios of their times as a forest plot, throughputs before and after as dumbbells. See charts.js for the rules.

// Rows of which each has two lines, a case and what of it. Where a reader has filtered them, the first ones stay.
function mprof_first_rows(view) {
  if (view.rows.length <= view.most) return view;
  var cut = {};
  for (var key in view) cut[key] = view[key];
  cut.rows = view.rows.slice(0, view.most);
  cut.series = view.series.map(function (series) {
    return { name: series.name, points: series.points.filter(function (point) { return point.row < view.most; }) };
  }).filter(function (series) { return series.points.length > 0; });
  return cut;
}

function mprof_two_line_rows(view, option, theme, width, right) {
  var longest = 0;
  view.rows.forEach(function (row) {
    row.split('\n').forEach(function (line) { longest = Math.max(longest, line.length); });
  });
  var label_width = Math.min(Math.ceil(longest * 7.2) + 8, Math.floor(width * 0.42));
  option.grid.left = label_width + 12;
  option.grid.right = right;
  option.yAxis.splitLine.show = false;
  option.yAxis.axisLabel.width = label_width;
  option.yAxis.axisLabel.lineHeight = 15;
  option.yAxis.axisLabel.overflow = 'none';
  // The middle of a long name goes, for both ends tell cases apart; the second line is quiet.
  option.yAxis.axisLabel.formatter = function (row) {
    var lines = row.split('\n'), letters = Math.max(Math.floor((label_width - 4) / 7.4), 6);
    function fit(line) {
      if (line.length <= letters) return line;
      return line.slice(0, Math.ceil((letters - 1) / 2)) + '\u2026' + line.slice(line.length - Math.floor((letters - 1) / 2));
    }
    return '{case|' + fit(lines[0]).replace(/[{}|]/g, ' ') + '}\n{part|' + fit(lines[1]).replace(/[{}|]/g, ' ') + '}';
  };
  option.yAxis.axisLabel.rich = {
    'case': { color: theme.text, fontSize: 12, lineHeight: 15, align: 'right' },
    part: { color: theme.muted, fontSize: 11, lineHeight: 14, align: 'right' }
  };
}

function mprof_row_title(view, row) { return view.rows[row].replace('\n', ', '); }

// --- Forest plot

// By verdict; a direction, a form and a colour each.
var mprof_verdicts = {
  faster: { symbol: 'path://M10,0L10,10L0,5Z', size: 12, series: 0 },
  slower: { symbol: 'path://M0,0L0,10L10,5Z', size: 12, series: 1 },
  same: { symbol: 'rect', size: 9, series: 2 },
  inconclusive: { symbol: 'diamond', size: 11, hollow: true }
};

function mprof_verdict_color(name, theme) {
  var verdict = mprof_verdicts[name];
  return verdict.hollow ? theme.muted : theme.series[verdict.series];
}

// In logarithms. Intervals count as far as they reach no further than the values do, and half as far again: one that
// says nothing must not press all others together.
function mprof_forest_extent(view) {
  var low = Math.log10(0.97), high = Math.log10(1.03), lowest = 0, highest = 0;
  view.series.forEach(function (series) {
    series.points.forEach(function (point) {
      low = Math.min(low, Math.log10(point.value));
      high = Math.max(high, Math.log10(point.value));
      lowest = Math.min(lowest, Math.log10(point.low));
      highest = Math.max(highest, Math.log10(point.high));
    });
  });
  var reach = (high - low) / 2;
  low = Math.max(Math.min(lowest, low), low - reach);
  high = Math.min(Math.max(highest, high), high + reach);
  var air = (high - low) * 0.05;
  return { min: low - air, max: high + air };
}

// The threshold of each row as a band, a line at 1, and the change in words at the right.
function mprof_forest_ground(view, rows, theme) {
  return {
    type: 'custom', silent: true, tooltip: { show: false }, z: 0, data: rows.map(function (row) { return [0, row.place]; }),
    clip: false,
    renderItem: function (params, api) {
      var row = rows[params.dataIndex], area = params.coordSys, at = api.coord([0, row.place]), height = api.size([0, 1])[1];
      var band = Math.log10(1 + row.point.threshold), left = api.coord([-band, 0])[0], right = api.coord([band, 0])[0];
      left = Math.max(left, area.x);
      right = Math.min(right, area.x + area.width);
      var strong = row.verdict === 'faster' || row.verdict === 'slower';
      return {
        type: 'group',
        children: [
          { type: 'rect', shape: { x: left, y: at[1] - height / 2, width: right - left, height: height },
            style: { fill: theme.muted, opacity: 0.16 } },
          { type: 'line', shape: { x1: at[0], y1: at[1] - height / 2, x2: at[0], y2: at[1] + height / 2 },
            style: { stroke: theme.muted, lineWidth: 1.5 } },
          { type: 'text',
            style: { text: row.point.text, x: area.x + area.width + 70, y: at[1], align: 'right', verticalAlign: 'middle', fontSize: 12,
                     fontFamily: mprof_font, fontWeight: strong ? 'bold' : 'normal', fill: strong ? theme.text : theme.muted } }
        ]
      };
    }
  };
}

// A line from end to end of the interval; an arrow where it goes on beyond the chart.
function mprof_forest_whiskers(rows, extent, theme) {
  return {
    type: 'custom', silent: true, tooltip: { show: false }, z: 2, data: rows.map(function (row) { return [0, row.place]; }),
    renderItem: function (params, api) {
      var row = rows[params.dataIndex], color = mprof_verdict_color(row.verdict, theme), y = api.coord([0, row.place])[1];
      var low = Math.log10(row.point.low), high = Math.log10(row.point.high);
      var from = api.coord([Math.max(low, extent.min), 0])[0], to = api.coord([Math.min(high, extent.max), 0])[0];
      var children = [{ type: 'line', shape: { x1: from, y1: y, x2: to, y2: y }, style: { stroke: color, lineWidth: 2 } }];
      function end(x, beyond, sign) {
        children.push(beyond
          ? { type: 'polyline', shape: { points: [[x - 6 * sign, y - 5], [x, y], [x - 6 * sign, y + 5]] },
              style: { stroke: color, lineWidth: 2, fill: 'none' } }
          : { type: 'line', shape: { x1: x, y1: y - 4, x2: x, y2: y + 4 }, style: { stroke: color, lineWidth: 2 } });
      }
      if (row.point.low < row.point.high) {
        end(from, low < extent.min, -1);
        end(to, high > extent.max, 1);
      }
      return { type: 'group', children: children };
    }
  };
}

// All points of the view with their verdicts, the slowest change first, and where each row stands then.
function mprof_forest_rows(view) {
  var rows = [];
  view.series.forEach(function (series) {
    series.points.forEach(function (point) { rows.push({ verdict: series.name, point: point }); });
  });
  rows.sort(function (a, b) { return b.point.value - a.point.value || a.point.row - b.point.row; });
  rows.forEach(function (row, place) { row.place = place; });
  return rows;
}

function mprof_forest(whole, theme, width) {
  var view = mprof_first_rows(whole), option = mprof_frame(view, theme, width), extent = mprof_forest_extent(view);
  var rows = mprof_forest_rows(view);
  mprof_two_line_rows(view, option, theme, width, 72);
  if (mprof_more_legend(view, width) > 0) mprof_wrap_legend(view, option, width);
  option.yAxis.data = rows.map(function (row) { return view.rows[row.point.row]; });
  option.xAxis = mprof_log_axis(option.xAxis, extent);
  option.series = view.series.map(function (series) {
    var verdict = mprof_verdicts[series.name], color = mprof_verdict_color(series.name, theme);
    return {
      type: 'scatter', name: series.name, symbol: verdict.symbol, symbolSize: verdict.size, z: 3,
      itemStyle: { color: verdict.hollow ? theme.ground : color, borderColor: color, borderWidth: verdict.hollow ? 2 : 0, opacity: 1 },
      data: rows.filter(function (row) { return row.verdict === series.name; }).map(function (row) {
        return { value: [Math.log10(row.point.value), row.place], title: mprof_row_title(view, row.point.row), hover: row.point.hover };
      })
    };
  });
  option.series.push(mprof_forest_ground(view, rows, theme), mprof_forest_whiskers(rows, extent, theme));
  return option;
}

// --- Throughputs before and after

function mprof_dumbbell_lines(series, color, dodge, theme) {
  return {
    type: 'custom', name: series.name, tooltip: { show: false }, silent: true, z: 2, clip: false,
    data: series.points.map(function (point) { return [point.before, point.row]; }),
    renderItem: function (params, api) {
      var point = series.points[params.dataIndex], area = params.coordSys;
      var from = api.coord([point.before, point.row]), to = api.coord([point.value, point.row]), y = from[1] + dodge;
      return {
        type: 'group',
        children: [
          { type: 'line', shape: { x1: from[0], y1: y, x2: to[0], y2: y }, style: { stroke: color, lineWidth: 3, opacity: 0.55 } },
          { type: 'text',
            style: { text: point.text, x: area.x + area.width + 40, y: y, align: 'right', verticalAlign: 'middle', fontSize: 11,
                     fontFamily: mprof_font, fill: theme.muted } }
        ]
      };
    }
  };
}

function mprof_dumbbells(whole, theme, width) {
  var view = mprof_first_rows(whole), option = mprof_frame(view, theme, width);
  mprof_two_line_rows(view, option, theme, width, 48);
  option.yAxis.splitLine.show = true;
  option.xAxis.type = 'value';
  option.xAxis.min = 0;
  option.xAxis.max = mprof_percent_end(view);
  option.series = [];
  view.series.forEach(function (series, index) {
    var color = mprof_cycle(theme.series, index), symbol = mprof_cycle(mprof_symbols, index), dodge = index === 0 ? -8 : 8;
    function marks(value, hollow) {
      return {
        type: 'scatter', name: series.name, symbol: symbol, symbolSize: 10, symbolOffset: [0, dodge], z: hollow ? 3 : 4,
        itemStyle: { color: hollow ? theme.ground : color, borderColor: color, borderWidth: 2, opacity: 1 },
        data: series.points.map(function (point) {
          return { value: [point[value], point.row], title: mprof_row_title(view, point.row), hover: point.hover };
        })
      };
    }
    option.series.push(marks('value', false), marks('before', true), mprof_dumbbell_lines(series, color, dodge, theme));
  });
  return option;
}

mprof_kinds.forest = mprof_forest;
mprof_kinds.dumbbells = mprof_dumbbells;
mprof_symbol_widths.forest = 12;
function mprof_rows_height(each) {
  return function (view, width) {
    var rows = Math.min(view.rows.length, view.most);
    return 84 + mprof_legend_line * mprof_more_legend(view, width) + each * Math.max(rows, 1);
  };
}
mprof_heights.forest = mprof_rows_height(33);
mprof_heights.dumbbells = mprof_rows_height(42);
