// SPDX-License-Identifier: MIT
// Parameter sweeps: a curve for one parameter, a heat map for two. See charts.js for the rules.

// --- Sweeps of one parameter: a curve

// A cross, for a place without a verified time.
var mprof_cross = 'path://M0,1L1,0L5,4L9,0L10,1L6,5L10,9L9,10L5,6L1,10L0,9L4,5Z';

// Range of the times in logarithms. A factor of two, or what the chart says, is the least that is shown, so that noise
// does not look like a mountain; crosses stand on a strip of their own below.
function mprof_curve_extent(view) {
  var low = Infinity, high = -Infinity, gaps = false;
  view.series.forEach(function (series) {
    gaps = gaps || series.gaps.length > 0;
    series.points.forEach(function (point) {
      low = Math.min(low, Math.log10(point.low));
      high = Math.max(high, Math.log10(point.high));
    });
  });
  var missing = Math.max(Math.log10(view.axis.least || 2) - (high - low), 0);
  var air = Math.max((high - low) * 0.06, 0.02);
  low -= missing / 4 + air;
  high += missing * 3 / 4 + air;
  return { min: low - (gaps ? (high - low) * 0.16 : 0), max: high, cross: low - (high - low) * 0.06 };
}

// What is drawn first is larger, so that lines and marks of equal values do not hide one another.
function mprof_curve_excess(view, index) { return view.axis.connected ? Math.min(view.series.length - 1 - index, 4) : 0; }

// Without lines that hold them together, the marks of a place can stand beside each other.
function mprof_curve_dodge(view, index) { return view.axis.connected ? 0 : mprof_dodge(index, view.series.length) * 1.6; }

function mprof_curve_line(view, series, theme, index) {
  var color = mprof_cycle(theme.series, index), excess = mprof_curve_excess(view, index), places = [];
  series.points.forEach(function (point) {
    places[point.row] = {
      value: [view.axis.ticks[point.row], Math.log10(point.value)], title: point.title, words: point.hover,
      symbolSize: (point.best ? 14 : 8) + 3 * excess,
      itemStyle: { color: color, opacity: 1, borderColor: point.best ? theme.text : color, borderWidth: point.best ? 2.5 : 1 },
      label: { show: point.best && view.series.length === 1, position: 'top', distance: 9, color: theme.text,
               fontSize: 12, fontWeight: 'bold', formatter: point.text, textBorderColor: theme.ground, textBorderWidth: 4 }
    };
  });
  // A place without a time breaks the line. Between words there is nothing that a line could stand for.
  series.gaps.forEach(function (gap) {
    places[gap.row] = { value: [view.axis.ticks[gap.row], '-'], title: gap.title, words: gap.hover };
  });
  return {
    type: 'line', name: series.name, data: places, connectNulls: false, showSymbol: true, showAllSymbol: true,
    symbol: mprof_cycle(mprof_symbols.slice(0, 4), index), symbolOffset: [mprof_curve_dodge(view, index), 0], z: 3,
    itemStyle: { color: color },
    lineStyle: { color: color, width: view.axis.connected ? 2 + 1.5 * excess : 0, type: 'solid' }
  };
}

// A vertical line from the low to the high end of an interval.
function mprof_vertical_whiskers(view, series, color, index) {
  var dodge = mprof_curve_dodge(view, index);
  return {
    type: 'custom', name: series.name, silent: true, tooltip: { show: false }, z: 2,
    data: series.points.map(function (point) {
      return [view.axis.ticks[point.row], Math.log10(point.low), Math.log10(point.high)];
    }),
    encode: { x: 0, y: [1, 2] },
    renderItem: function (params, api) {
      var from = api.coord([api.value(0), api.value(1)]), to = api.coord([api.value(0), api.value(2)]);
      return {
        type: 'line', shape: { x1: from[0] + dodge, y1: from[1], x2: to[0] + dodge, y2: to[1] },
        style: { stroke: color, lineWidth: 5, opacity: 0.4 }
      };
    }
  };
}

// The words above a cross: each once, and only at the first of the crosses of a place.
function mprof_gap_words(view) {
  var words = {};
  view.series.forEach(function (series) {
    series.gaps.forEach(function (gap) {
      if (!words[gap.row]) words[gap.row] = [];
      if (words[gap.row].indexOf(gap.text) < 0) words[gap.row].push(gap.text);
    });
  });
  return words;
}

function mprof_crosses(view, series, theme, index, extent, words) {
  var color = mprof_cycle(theme.series, index);
  return {
    type: 'scatter', name: series.name, symbol: mprof_cross, symbolSize: 10, silent: true, tooltip: { show: false }, z: 3,
    symbolOffset: [mprof_dodge(index, view.series.length) * 1.6, 0], itemStyle: { color: color, opacity: 1 },
    labelLayout: { hideOverlap: true },
    data: series.gaps.map(function (gap) {
      var text = words[gap.row] ? words[gap.row].join(', ') : '';
      delete words[gap.row];
      return {
        value: [view.axis.ticks[gap.row], extent.cross],
        label: { show: text !== '', position: 'bottom', distance: 4, color: theme.muted, fontSize: 11, formatter: text }
      };
    })
  };
}

// The values of a parameter, where they lie.
function mprof_value_axis(view, theme, axis) {
  var ticks = view.axis.ticks, last = ticks.length - 1;
  var pad = Math.max((ticks[last] - ticks[0]) * 0.08, 0.01);
  axis.type = 'value';
  axis.min = ticks[0] - pad;
  axis.max = ticks[last] + pad;
  axis.axisTick = { show: true, customValues: ticks, lineStyle: { color: theme.line } };
  axis.axisLabel.customValues = ticks;
  axis.axisLabel.formatter = function (position) {
    for (var i = 0; i <= last; i++) {
      if (Math.abs(ticks[i] - position) < 1e-9) return view.rows[i];
    }
    return '';
  };
  axis.axisLine = { show: true, onZero: false, lineStyle: { color: theme.line } };
  axis.splitLine = { show: false };
  return axis;
}

function mprof_curve_words(items) {
  var shown = items.filter(function (item) { return item.data && item.data.words; });
  if (shown.length === 0) return '';
  return echarts.format.encodeHTML(shown[0].data.title) + shown.map(function (item) {
    return '<br>' + item.marker + ' ' + echarts.format.encodeHTML(item.seriesName + ': ' + item.data.words);
  }).join('');
}

function mprof_curve(view, theme, width) {
  var option = mprof_frame(view, theme, width), extent = mprof_curve_extent(view), words = mprof_gap_words(view);
  option.grid = { left: 60, right: 22, top: 50, bottom: 46 };
  option.legend.show = view.series.length > 1;
  option.xAxis = mprof_value_axis(view, theme, option.xAxis);
  option.yAxis = mprof_log_axis({
    name: view.axis.y, nameLocation: 'middle', nameGap: 42, nameRotate: 90, nameTextStyle: { color: theme.muted, fontSize: 12 },
    axisLine: { show: false }, axisTick: { show: false },
    axisLabel: { color: theme.muted, fontSize: 12, hideOverlap: true },
    splitLine: { show: false }
  }, extent);
  option.tooltip.trigger = 'axis';
  option.tooltip.axisPointer = { type: 'line', lineStyle: { color: theme.line, type: 'solid' }, label: { show: false } };
  option.tooltip.formatter = mprof_curve_words;
  option.series = [];
  view.series.forEach(function (series, index) {
    option.series.push(mprof_curve_line(view, series, theme, index));
    option.series.push(mprof_vertical_whiskers(view, series, mprof_cycle(theme.series, index), index));
    if (series.gaps.length > 0) option.series.push(mprof_crosses(view, series, theme, index, extent, words));
  });
  if (view.axis['default'] !== null) {
    option.series[0].markLine = {
      silent: true, symbol: 'none', lineStyle: { color: theme.muted, type: 'dotted', width: 1.5 },
      label: { show: true, position: 'end', formatter: 'default', color: theme.muted, fontSize: 11 },
      data: [{ xAxis: view.axis['default'] }]
    };
  }
  return option;
}

// --- Sweeps of two parameters: a heat map

// A place on the map: its shade, its figure where there is room for it, frames for the best and the default.
function mprof_heat_cell(point, series, theme, api) {
  var middle = api.coord([point.column, point.row]), size = api.size([1, 1]);
  var box = { x: middle[0] - size[0] / 2 + 2, y: middle[1] - size[1] / 2 + 2, width: size[0] - 4, height: size[1] - 4, r: 3 };
  var gap = series.shade < 0, children = [{
    type: 'rect', shape: box,
    style: { fill: gap ? theme.faint : theme.heat[series.shade], stroke: point.best ? theme.text : 'none', lineWidth: point.best ? 3 : 0 }
  }];
  if (point['default']) {
    children.push({
      type: 'rect', silent: true, shape: { x: box.x + 4, y: box.y + 4, width: box.width - 8, height: box.height - 8, r: 2 },
      style: { fill: 'none', stroke: gap ? theme.muted : theme.heat_text[series.shade], lineWidth: 1.5, lineDash: [4, 3] }
    });
  }
  if (point.text.length * 6.6 + 6 <= box.width) {
    children.push({
      type: 'text', silent: true,
      style: { text: point.text, x: middle[0], y: middle[1], align: 'center', verticalAlign: 'middle', fontSize: 12,
               fontWeight: point.best ? 'bold' : 'normal', fill: gap ? theme.muted : theme.heat_text[series.shade],
               fontFamily: mprof_font }
    });
  }
  return { type: 'group', children: children };
}

function mprof_heat_map(view, theme, width) {
  var option = mprof_frame(view, theme, width);
  option.grid.left += 20;
  option.grid.right = 8;
  mprof_wrap_legend(view, option, width);
  option.yAxis.splitLine = { show: false };
  option.yAxis.name = view.axis.y;
  option.yAxis.nameLocation = 'middle';
  option.yAxis.nameRotate = 90;
  option.yAxis.nameGap = option.grid.left - 14;
  option.yAxis.nameTextStyle = { color: theme.muted, fontSize: 12 };
  option.xAxis.type = 'category';
  option.xAxis.data = view.columns;
  option.xAxis.splitLine = { show: false };
  option.xAxis.axisLabel = { color: theme.text, fontSize: 12, hideOverlap: true };
  option.color = view.series.map(function (series) { return series.shade < 0 ? theme.faint : theme.heat[series.shade]; });
  option.series = view.series.map(function (series) {
    return {
      type: 'custom', name: series.name, encode: { x: 0, y: 1 }, itemStyle: { borderColor: theme.line, borderWidth: 1 },
      data: series.points.map(function (point) {
        return { value: [point.column, point.row], row: point.row, title: point.title, words: point.text, hover: point.hover };
      }),
      renderItem: function (params, api) { return mprof_heat_cell(series.points[params.dataIndex], series, theme, api); }
    };
  });
  return option;
}

mprof_kinds.curve = mprof_curve;
mprof_kinds.heat_map = mprof_heat_map;
mprof_heights.curve = function () { return 380; };
mprof_row_heights.heat_map = 44;
