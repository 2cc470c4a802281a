// SPDX-License-Identifier: MIT
// Timelines: what ran when, on which stream. See charts.js for the rules.

// Where a block stands in its row, whether it is hatched, and which colour of text can be read on it. Place,
// hatching and lightness tell the kinds of a row apart without their hues.
var mprof_timeline_kinds = {
  group: { color: 0, place: 'upper', text: 1 }, stage: { color: 1, place: 'lower', text: 1 },
  range: { color: 2, place: 'full', text: 1 }, allocation: { color: 3, place: 'full', text: 0 },
  copy_call: { color: 4, place: 'full', text: 1 }, launch: { color: 5, place: 'full', text: 1 },
  wait: { color: 6, place: 'full', text: 1, hatched: true }, other_call: { color: 7, place: 'full', text: 1 },
  kernel: { color: 8, place: 'full', text: 0 }, copy_in: { color: 9, place: 'upper', text: 2 },
  copy_out: { color: 10, place: 'lower', text: 0 }, copy_other: { color: 11, place: 'middle', text: 2 },
  memset: { color: 12, place: 'middle', text: 0 }, both: { color: 13, place: 'middle', text: 0 }
};
var mprof_timeline_row = 30;
var mprof_timeline_narrow = 640;

function mprof_with_unit(value, units) {
  var size = Math.abs(value), unit = units[units.length - 1];
  for (var i = units.length - 1; i >= 0; i--) if (size >= units[i][0]) unit = units[i];
  var number = value / unit[0];
  return (size < 1e3 * unit[0] && number !== Math.round(number) ? number.toPrecision(4) : String(Math.round(number))) +
         '\u00a0' + unit[1];
}

var mprof_time_units = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']];

function mprof_time_text(ns) { return mprof_with_unit(ns, mprof_time_units); }
function mprof_bytes_text(bytes) { return mprof_with_unit(bytes, [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']]); }

// The rows of the cases that are shown: a head for each, and its lanes.
function mprof_timeline_rows(view) {
  var rows = [];
  view.shown.forEach(function (index) {
    var shown = view.cases[index];
    rows.push({ name: '', head: shown });
    shown.lanes.forEach(function (lane) { rows.push({ name: lane.name, lane: lane, of: shown }); });
  });
  return rows;
}

function mprof_timeline_window(view) {
  return view.shown.reduce(function (longest, index) { return Math.max(longest, view.cases[index].window); }, 1);
}

// From the text that report/views/timeline_view.cpp packs them into. Times in ns.
function mprof_unpacked(blocks) {
  var before = 0;
  return blocks.split(';').map(function (text) {
    var fields = text.split(',').map(Number), start = before + fields[0], length = fields[1];
    before = start + length;
    return { start: start, length: length, name: fields[2] || 0, count: fields[3] || 1, bytes: fields[4] || 0,
             busy: fields[5] || length };
  });
}

// What may stand in a block, the longest first.
function mprof_timeline_labels(block, name) {
  var times = block.count > 1 ? '\u00d7' + block.count : '', labels = [];
  if (name && block.bytes > 0) labels.push(name + ', ' + mprof_bytes_text(block.bytes));
  if (block.bytes > 0) labels.push(mprof_bytes_text(block.bytes));
  if (name && block.bytes === 0) labels.push(times ? name + ' ' + times : name);
  if (times) labels.push(times);
  return labels;
}

// What is said of a block when it is pointed at, a line each.
function mprof_timeline_hover(block, name, kind) {
  var lines = [name || kind];
  if (block.count > 1) lines[0] = block.count + ' \u00d7 ' + lines[0];
  lines.push('starts at ' + mprof_time_text(block.start));
  lines.push((block.count > 1 ? 'all within ' : 'takes ') + mprof_time_text(block.length) +
             (block.busy < block.length ? ', busy for ' + mprof_time_text(block.busy) : ''));
  if (block.bytes > 0) {
    lines.push(mprof_bytes_text(block.bytes) +
               (block.busy > 0 ? ', ' + mprof_bytes_text(block.bytes / block.busy * 1e9) + '/s' : ''));
  }
  return lines;
}

// Top and height of a block in a row as high as `band`.
function mprof_timeline_place(place, middle, band) {
  var height = band - 4;
  if (place === 'upper') return { top: middle - height / 2, height: height / 2 - 0.5 };
  if (place === 'lower') return { top: middle + 0.5, height: height / 2 - 0.5 };
  if (place === 'middle') return { top: middle - height / 4, height: height / 2 };
  return { top: middle - height / 2, height: height };
}

// The part of a block between both ends of the axis. One too short to be seen is a stroke as thin as can be.
function mprof_timeline_block(params, api, item, style, text_color) {
  var from = api.coord([api.value(0), api.value(2)]), to = api.coord([api.value(1), api.value(2)]);
  var place = mprof_timeline_place(item.place, from[1], api.size([0, 1])[1]), area = params.coordSys;
  var left = Math.max(from[0], area.x), right = Math.min(Math.max(to[0], from[0] + 1), area.x + area.width);
  if (right <= left) return null;
  var wide = right - left, block = {
    type: 'rect', shape: { x: left, y: place.top, width: wide, height: place.height },
    style: { fill: style.fill, stroke: style.stroke, lineWidth: wide > 4 ? 0.5 : 0 }
  };
  if (style.decal && wide > 8) block.style.decal = style.decal;
  var label = item.labels.filter(function (text) { return text.length * 6 + 6 < wide; })[0];
  if (!label || place.height < 9) return block;
  return {
    type: 'group', children: [block, {
      type: 'text', silent: true,
      style: { text: label, x: left + wide / 2, y: place.top + place.height / 2, fill: text_color, fontSize: 10,
               fontFamily: mprof_font, align: 'center', verticalAlign: 'middle' }
    }]
  };
}

// All blocks of one kind, in all rows; nothing where the cases shown have none.
function mprof_timeline_series(series, rows, theme, scale) {
  var kind = mprof_timeline_kinds[series.kind], data = [];
  rows.forEach(function (row, index) {
    if (!row.lane) return;
    row.lane.strips.forEach(function (strip) {
      if (strip.kind !== series.kind) return;
      mprof_unpacked(strip.blocks).forEach(function (block) {
        var name = row.of.names[block.name];
        data.push({
          value: [block.start / scale, (block.start + block.length) / scale, index], place: kind.place,
          labels: mprof_timeline_labels(block, name), title: row.of.title + ', ' + row.name,
          lines: mprof_timeline_hover(block, name, series.name)
        });
      });
    });
  });
  if (data.length === 0) return null;
  var style = { fill: theme.timeline[kind.color], stroke: theme.ground };
  if (kind.hatched) {
    style.decal = { symbol: 'rect', color: theme.line, dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -Math.PI / 4 };
  }
  return {
    type: 'custom', name: series.name, data: data, encode: { x: [0, 1], y: 2 }, z: series.kind === 'other_call' ? 1 : 2,
    itemStyle: { color: style.fill }, animation: false,
    renderItem: function (params, api) {
      return mprof_timeline_block(params, api, data[params.dataIndex], style, theme.timeline_text[kind.text]);
    }
  };
}

// The name and the figures of a case, above its lanes.
function mprof_timeline_heads(rows, theme, width) {
  var heads = [];
  rows.forEach(function (row, index) { if (row.head) heads.push({ value: [index], of: row.head }); });
  return {
    type: 'custom', name: '', silent: true, tooltip: { show: false }, data: heads, encode: { x: -1, y: 0 }, z: 4,
    renderItem: function (params, api) {
      var of = heads[params.dataIndex].of, middle = api.coord([0, api.value(0)])[1], band = api.size([0, 1])[1];
      var text = of.title + ':  ' + (width < mprof_timeline_narrow ? of.brief : of.figures);
      return {
        type: 'group', children: [
          { type: 'rect', shape: { x: 0, y: middle - band / 2, width: width, height: band }, style: { fill: theme.faint } },
          { type: 'text', style: { text: text, x: 6, y: middle, fill: theme.text, fontSize: 12, fontWeight: 600,
                                   fontFamily: mprof_font, verticalAlign: 'middle', width: width - 12,
                                   overflow: 'truncate' } }
        ]
      };
    }
  };
}

// `zoomLock` keeps ECharts from taking every turn of a wheel, which belongs to the page: timeline.js zooms with Ctrl.
function mprof_timeline_zoom(view, theme, scale_text) {
  var shown = view.zoom || { start: 0, end: 100 };
  return [
    { type: 'inside', filterMode: 'weakFilter', start: shown.start, end: shown.end, minSpan: 0.01,
      zoomLock: true, preventDefaultMouseMove: false },
    { type: 'slider', filterMode: 'weakFilter', start: shown.start, end: shown.end, minSpan: 0.01, height: 20, bottom: 6,
      showDataShadow: false, brushSelect: false, borderColor: theme.line, fillerColor: 'rgba(90,140,200,0.2)',
      textStyle: { color: theme.muted, fontSize: 11 }, labelFormatter: scale_text }
  ];
}

function mprof_timeline_legend_lines(view, width) {
  var lines = 1, used = 0;
  view.series.forEach(function (series) {
    var item = series.name.length * 6.6 + (view.live ? 34 : 46);
    if (used > 0 && used + item > width) {
      lines++;
      used = 0;
    }
    used += item;
  });
  return lines;
}

function mprof_timeline_height(view, width) {
  return 34 + 24 * (mprof_timeline_legend_lines(view, width) - 1) + mprof_timeline_row * mprof_timeline_rows(view).length +
         46 + (view.live ? 34 : 0);
}

function mprof_timeline(view, theme, width) {
  var rows = mprof_timeline_rows(view), longest = mprof_timeline_window(view);
  var names = rows.map(function (row) { return row.name; });
  var unit = mprof_time_units.filter(function (candidate) { return longest >= candidate[0]; })[0], scale = unit[0];
  var option = mprof_frame({ rows: names, axis: { name: view.axis.name + ' (' + unit[1] + ')' } }, theme, width);
  option.grid.right = 14;
  option.grid.top += 24 * (mprof_timeline_legend_lines(view, width) - 1);
  option.grid.bottom = 46 + (view.live ? 34 : 0);
  option.xAxis.type = 'value';
  option.xAxis.min = 0;
  option.xAxis.max = longest / scale;
  option.xAxis.axisLabel.showMaxLabel = false;
  option.xAxis.axisLabel.showMinLabel = !view.zoom || view.zoom.start === 0;
  option.xAxis.axisLabel.formatter = function (value) { return String(Number(value.toPrecision(9))); };
  option.tooltip.formatter = function (item) {
    return echarts.format.encodeHTML(item.data.title) + '<br>' + item.marker + ' ' +
           item.data.lines.map(echarts.format.encodeHTML).join('<br>');
  };
  option.series = view.series.map(function (series) {
    return mprof_timeline_series(series, rows, theme, scale);
  }).filter(function (series) { return series !== null; });
  option.legend.type = 'plain';
  option.legend.width = width;
  option.legend.itemGap = 14;
  // Without a browser nobody knows how wide a text is: spaces keep an underrated one off its neighbour.
  if (!view.live) option.legend.formatter = function (name) { return name + '\u2003'; };
  option.legend.data = option.series.map(function (series) { return { name: series.name, icon: 'rect' }; });
  option.series.push(mprof_timeline_heads(rows, theme, width));
  if (view.live) {
    option.dataZoom = mprof_timeline_zoom(view, theme, function (value) { return mprof_time_text(value * scale); });
  }
  return option;
}

mprof_kinds.timeline = mprof_timeline;
mprof_heights.timeline = mprof_timeline_height;
