// SPDX-License-Identifier: MIT
// Flame graphs: frames of call stacks, the outermost at the top, as wide as the GPU's time below them. See charts.js for
// the rules. A point: [begin, width, depth, is a kernel, name, words]; begin and width in % of the whole.

var mprof_flame_row = 20;

// The part that is shown, in %: all of it, or the frame that was chosen.
function mprof_flame_window(view) {
  var chosen = view.chosen === undefined ? null : view.series[0].points[view.chosen];
  return chosen ? { min: chosen[0], max: chosen[0] + chosen[1] } : { min: 0, max: 100 };
}

// As much of a name as a frame has room for; of a path or a qualified name its end says the most.
function mprof_flame_label(name, width) {
  var most = Math.floor((width - 8) / 6.4);
  if (most < 3) return '';
  return name.length <= most ? name : name.slice(0, most - 1) + '\u2026';
}

function mprof_flame_frame(view, theme, params, api, point) {
  var left = api.coord([point[0], point[2]]), right = api.coord([point[0] + point[1], point[2]]), area = params.coordSys;
  var from = Math.max(left[0], area.x), to = Math.min(right[0], area.x + area.width), middle = left[1];
  if (to <= from) return null;
  var is_marked = view.marked === params.dataIndex;
  // Neighbours of one depth differ in lightness, and kernels in hue as well.
  var shade = point[3] ? theme.timeline[8] : theme.timeline[params.dataIndex % 2 ? 2 : 1];
  var block = {
    type: 'rect', shape: { x: from, y: middle - mprof_flame_row / 2, width: Math.max(to - from, 0.5), height: mprof_flame_row - 1 },
    style: { fill: shade, stroke: is_marked ? theme.text : theme.ground, lineWidth: is_marked ? 2 : 0.5 }
  };
  var label = mprof_flame_label(point[4], to - from);
  if (!label) return block;
  return {
    type: 'group', children: [block, {
      type: 'text', silent: true,
      style: { text: label, x: from + 4, y: middle, fill: theme.timeline_text[point[3] ? 0 : 1], fontSize: 11,
               fontFamily: mprof_font, verticalAlign: 'middle' }
    }]
  };
}

function mprof_flame(view, theme, width) {
  var option = mprof_frame(view, theme, width), shown = mprof_flame_window(view), points = view.series[0].points;
  option.grid = { left: 4, right: 4, top: 8, bottom: 46 };
  option.legend.show = false;
  option.xAxis.type = 'value';
  option.xAxis.min = shown.min;
  option.xAxis.max = shown.max;
  option.xAxis.splitLine.show = false;
  option.xAxis.axisLabel.formatter = function (value) { return String(Number(value.toPrecision(3))); };
  option.yAxis = { type: 'value', inverse: true, min: -0.5, max: view.depth - 0.5, show: false };
  option.tooltip.formatter = function (item) {
    var point = points[item.dataIndex];
    return echarts.format.encodeHTML(point[4]) + '<br>' + echarts.format.encodeHTML(point[5]);
  };
  option.series = [{
    type: 'custom', name: view.series[0].name, animation: false, encode: { x: [0, 1], y: 2 },
    data: points.map(function (point) { return { value: [point[0], point[0] + point[1], point[2]] }; }),
    renderItem: function (params, api) { return mprof_flame_frame(view, theme, params, api, points[params.dataIndex]); }
  }];
  return option;
}

mprof_kinds.flame = mprof_flame;
mprof_heights.flame = function (view) { return 54 + mprof_flame_row * view.depth; };
