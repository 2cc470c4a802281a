// SPDX-License-Identifier: MIT
// The roofline: kernels by arithmetic intensity and rate, under the measured roofs. See charts.js for the rules.

// Range of the points and of the knee of the roof, in logarithms, with some air around them.
function mprof_roofline_extent(view) {
  var xs = [], ys = [];
  view.series.forEach(function (series) {
    series.points.forEach(function (point) { xs.push(point.x); ys.push(point.y); });
  });
  if (view.roof) {
    xs.push(view.roof.peak / view.roof.slope);
    ys.push(view.roof.peak);
    view.roof.others.forEach(function (roof) {
      if (roof.kind !== 'level') return;
      xs.push(2 * roof.value / view.roof.slope);  // beyond its knee
      ys.push(roof.value);
    });
  }
  function low(values) { return Math.log10(Math.min.apply(null, values)) - 0.25; }
  var sloping = view.roof ? 0.45 : 0;  // so that the roofs which slope have room for their names
  function high(values) { return Math.log10(Math.max.apply(null, values)) + 0.25; }
  return { x: { min: low(xs) - sloping, max: high(xs) }, y: { min: low(ys), max: high(ys) } };
}

function mprof_log_axis(axis, range) {
  var positions = mprof_log_ticks(Math.pow(10, range.min), Math.pow(10, range.max)).map(function (tick) {
    return Math.log10(tick);
  });
  axis.type = 'value';
  axis.min = range.min;
  axis.max = range.max;
  axis.axisTick.customValues = positions;
  axis.axisLabel.customValues = positions;
  axis.axisLabel.formatter = function (position) { return mprof_tick_text(Math.pow(10, position)); };
  return axis;
}

// The name of a roof: left or right of a point, a little higher, or along the line, which rises by so many degrees.
function mprof_roof_name(at, text, theme, where, degrees) {
  var label = { show: true, formatter: text, color: theme.muted, fontSize: 11 };
  Object.assign(label, where !== 'along' ? { position: where, distance: 8, offset: [0, -8] }
                                         : { position: 'inside', rotate: degrees, align: 'center', verticalAlign: 'bottom', padding: [0, 0, 3, 0] });
  return { value: at, label: label };
}

// Up with the bandwidth to the knee, and level from there: its name stands at the end, where few kernels are.
function mprof_roof_line(view, theme, extent, along) {
  var slope = Math.log10(view.roof.slope), peak = Math.log10(view.roof.peak), knee = peak - slope;
  var start = Math.max(extent.x.min, extent.y.min - slope), middle = (start + knee) / 2;
  return {
    type: 'line', silent: true, symbol: 'circle', symbolSize: 0.01, showAllSymbol: true, tooltip: { show: false }, z: 1,
    lineStyle: { color: theme.muted, width: 1.5, type: 'solid' }, itemStyle: { color: theme.muted },
    data: [[start, start + slope], mprof_roof_name([middle, middle + slope], view.roof.slope_text, theme, 'along', along),
           [knee, peak], mprof_roof_name([extent.x.max, peak], view.roof.peak_text, theme, 'left', along)]
  };
}

// Caches slope as memory does, up to the level of FP32; memory goes on from there up to that of tensor cores.
function mprof_other_roof(view, roof, theme, extent, along) {
  var value = Math.log10(roof.value), slope = Math.log10(view.roof.slope), peak = Math.log10(view.roof.peak);
  var is_level = roof.kind === 'level', start = Math.max(extent.x.min, extent.y.min - value);
  var from = is_level ? [peak - slope, peak] : [start, start + value];
  var to = is_level ? [extent.x.max, value] : [peak - value, peak];
  var at = is_level ? to : [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
  // One of which next to nothing is to be seen is too far from all marks to matter.
  if (to[0] - from[0] < 0.1 * (extent.x.max - extent.x.min)) return null;
  var named = mprof_roof_name(at, roof.text, theme, is_level ? 'left' : 'along', along);
  return {
    type: 'line', silent: true, symbol: 'circle', symbolSize: 0.01, showAllSymbol: true, tooltip: { show: false }, z: 1,
    lineStyle: { color: theme.muted, width: 1, type: 'dashed' }, itemStyle: { color: theme.muted },
    data: is_level ? [from, [value - slope, value], named] : [from, named, to]
  };
}

var mprof_roofline_symbols = ['circle', 'triangle', 'diamond'];

function mprof_overlaps(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Where a name can stand beside its mark, in the order of preference.
function mprof_name_boxes(x, y, text) {
  var wide = text.length * 6.4, high = 12, gap = 8;
  return [
    { position: 'right', left: x + gap, right: x + gap + wide, top: y - high / 2, bottom: y + high / 2 },
    { position: 'left', left: x - gap - wide, right: x - gap, top: y - high / 2, bottom: y + high / 2 },
    { position: 'top', left: x - wide / 2, right: x + wide / 2, top: y - gap - high, bottom: y - gap },
    { position: 'bottom', left: x - wide / 2, right: x + wide / 2, top: y + gap, bottom: y + gap + high }
  ];
}

// Names that would lie on a mark or on another name are left out: the mark says it when pointed at. ECharts could hide
// them as well, but among names of one length it keeps another one each time.
function mprof_place_names(view, extent, area) {
  function pixel(point) {
    return {
      x: area.left + (Math.log10(point.x) - extent.x.min) / (extent.x.max - extent.x.min) * area.width,
      y: area.top + (extent.y.max - Math.log10(point.y)) / (extent.y.max - extent.y.min) * area.height
    };
  }
  var taken = [];
  view.series.forEach(function (series) {
    series.points.forEach(function (point) {
      var at = pixel(point);
      taken.push({ left: at.x - 5, right: at.x + 5, top: at.y - 5, bottom: at.y + 5 });
    });
  });
  if (view.roof) {
    var right = area.left + area.width;
    var level = view.roof.others.filter(function (roof) { return roof.kind === 'level'; });
    level.concat({ value: view.roof.peak, text: view.roof.peak_text }).forEach(function (roof) {
      var y = pixel({ x: 1, y: roof.value }).y;
      taken.push({ left: right - 8 - 6.4 * roof.text.length, right: right, top: y - 16, bottom: y });
    });
  }
  return view.series.map(function (series) {
    return series.points.map(function (point) {
      var at = pixel(point), free = mprof_name_boxes(at.x, at.y, point.label).filter(function (box) {
        var inside = box.left >= area.left && box.right <= area.left + area.width;
        return inside && !taken.some(function (other) { return mprof_overlaps(box, other); });
      });
      if (point.label === '' || free.length === 0) return { show: false };
      taken.push(free[0]);
      return { show: true, position: free[0].position };
    });
  });
}

// One mark for each kernel, the longest ones named as far as there is room.
function mprof_roofline_marks(series, theme, index, labels) {
  return {
    type: 'scatter', name: series.name, symbol: mprof_cycle(mprof_roofline_symbols, index),
    symbolSize: index === 2 ? 13 : 10, z: 3, itemStyle: { color: mprof_cycle(theme.series, index), opacity: 1 },
    label: { color: theme.text, fontSize: 11, formatter: function (item) { return item.data.name; } },
    data: series.points.map(function (point, place) {
      return { value: [Math.log10(point.x), Math.log10(point.y)], name: point.label, title: point.title,
               hover: point.hover, label: labels[place] };
    })
  };
}

function mprof_roofline(view, theme, width) {
  var option = mprof_frame(view, theme, width), extent = mprof_roofline_extent(view);
  var axis_line = { show: true, onZero: false, lineStyle: { color: theme.line } };
  option.xAxis = mprof_log_axis(option.xAxis, extent.x);
  option.xAxis.axisLine = axis_line;
  option.xAxis.splitLine = { show: false };
  option.yAxis = mprof_log_axis({
    name: view.axis.y, nameLocation: 'middle', nameGap: 40, nameRotate: 90, nameTextStyle: { color: theme.muted, fontSize: 12 },
    axisLine: axis_line, axisTick: { show: false },
    axisLabel: { color: theme.muted, fontSize: 12, hideOverlap: true },
    splitLine: { show: false }
  }, extent.y);
  option.grid = { left: 60, right: 16, top: 38, bottom: 46 };
  mprof_wrap_legend(view, option, width);
  var area = {
    left: option.grid.left, top: option.grid.top, width: width - option.grid.left - option.grid.right,
    height: mprof_height(view) - option.grid.top - option.grid.bottom
  };
  var labels = mprof_place_names(view, extent, area);
  option.series = view.series.map(function (series, index) {
    return mprof_roofline_marks(series, theme, index, labels[index]);
  });
  if (view.roof) {
    var rise = area.height / (extent.y.max - extent.y.min), run = area.width / (extent.x.max - extent.x.min);
    var along = Math.atan2(rise, run) * 180 / Math.PI;
    option.series.push(mprof_roof_line(view, theme, extent, along));
    view.roof.others.forEach(function (roof) {
      var line = mprof_other_roof(view, roof, theme, extent, along);
      if (line) option.series.push(line);
    });
  }
  return option;
}

mprof_kinds.roofline = mprof_roofline;
mprof_heights.roofline = function () { return 460; };
