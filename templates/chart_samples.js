// SPDX-License-Identifier: MIT
// Raw samples in the order taken: a panel for each time, one above the other. See charts.js for the rules.

var mprof_strip_size = { head: 4, title: 22, plot: 110, gap: 12, axis: 40, left: 56, right: 14, between: 0.12 };
var mprof_strip_parts = 1000;         // of a percent: what samples are counted in
var mprof_strip_least = 0.5;          // %: half the least range, so that noise does not look like a mountain
var mprof_strip_symbols = ['circle', 'rect'];

// The rounds of a panel from left to right, each as wide as the next: { side, number, from, count, left }. So what happens
// in one round stands in one place in all panels, however many samples each of them has there.
function mprof_strip_rounds(panel) {
  var rounds = [], from = 0;
  panel.sides.forEach(function (side, place) {
    side.rounds.forEach(function (count, number) {
      rounds.push({ side: place, number: number + 1, from: from, count: count, left: rounds.length + place * mprof_strip_size.between });
      from += count;
    });
  });
  return rounds;
}

// Range in percent: all samples but those far out, which may reach as far again; and the intervals.
function mprof_strip_range(panel) {
  var far = {}, low = -mprof_strip_least, high = mprof_strip_least, lowest = low, highest = high;
  panel.far.forEach(function (at) { far[at] = true; });
  panel.points.forEach(function (point, at) {
    var value = point / mprof_strip_parts;
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
    if (far[at]) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  });
  panel.sides.forEach(function (side) {
    if (!side.band) return;
    low = Math.min(low, side.band[0] / mprof_strip_parts);
    high = Math.max(high, side.band[1] / mprof_strip_parts);
  });
  var reach = high - low;
  var range = { low: Math.max(lowest, low - reach / 2), high: Math.min(highest, high + reach / 2) };
  range.low = Math.min(range.low, low);
  range.high = Math.max(range.high, high);
  var air = (range.high - range.low) * 0.08;
  return { low: range.low - air, high: range.high + air };
}

function mprof_strip_percent(value) {
  var size = String(Math.abs(Number(value.toPrecision(3))));
  return (value > 0 ? '+' : value < 0 ? '\u2212' : '') + size + '\u00a0%';
}

// What lies behind the samples: lines of the ticks and between the rounds, the intervals.
function mprof_strip_ground(panel, place, rounds, range, ticks, theme) {
  return {
    type: 'custom', xAxisIndex: place, yAxisIndex: place, silent: true, tooltip: { show: false }, z: 1, data: [[0, 0]],
    renderItem: function (params, api) {
      var area = params.coordSys, children = [];
      function y(value) { return api.coord([0, value])[1]; }
      function x(value) { return api.coord([value, 0])[0]; }
      panel.sides.forEach(function (side, number) {
        if (!side.band) return;
        var own = rounds.filter(function (round) { return round.side === number; });
        var left = x(own[0].left), right = x(own[own.length - 1].left + 1);
        var top = y(side.band[1] / mprof_strip_parts), bottom = y(side.band[0] / mprof_strip_parts);
        children.push({ type: 'rect', shape: { x: left, y: top, width: right - left, height: Math.max(bottom - top, 2) },
                        style: { fill: mprof_cycle(theme.series, number), opacity: 0.13 } });
      });
      ticks.forEach(function (tick) {
        children.push({ type: 'line', shape: { x1: area.x, y1: y(tick), x2: area.x + area.width, y2: y(tick) },
                        style: { stroke: tick === 0 ? theme.muted : theme.line, lineWidth: 1, opacity: tick === 0 ? 0.7 : 0.6 } });
      });
      rounds.forEach(function (round, index) {
        if (index === 0) return;
        var other = rounds[index - 1].side !== round.side;
        var at = x(round.left - (other ? mprof_strip_size.between / 2 : 0));
        children.push({ type: 'line', shape: { x1: at, y1: area.y, x2: at, y2: area.y + area.height },
                        style: { stroke: other ? theme.muted : theme.line, lineWidth: other ? 1.5 : 1 } });
      });
      return { type: 'group', children: children };
    }
  };
}

// Levels of the rounds, over the samples.
function mprof_strip_levels(panel, place, rounds, theme) {
  return {
    type: 'custom', xAxisIndex: place, yAxisIndex: place, silent: true, tooltip: { show: false }, z: 4, data: [[0, 0]],
    renderItem: function (params, api) {
      return {
        type: 'group',
        children: panel.levels.map(function (level) {
          var left = rounds[level[0]].left, value = level[3] / mprof_strip_parts;
          var from = api.coord([left + level[1], value]), to = api.coord([left + level[2], value]);
          return { type: 'line', shape: { x1: from[0] + 1, y1: from[1], x2: to[0] - 1, y2: to[1] },
                   style: { stroke: theme.text, lineWidth: 2 } };
        })
      };
    }
  };
}

// Where the sample lies that is the farthest out, of those out of sight; -1 where all are in sight.
function mprof_strip_farthest(panel, range) {
  var farthest = -1, beyond = 0;
  panel.points.forEach(function (point, at) {
    var value = point / mprof_strip_parts, distance = Math.max(value - range.high, range.low - value);
    if (distance > beyond) {
      beyond = distance;
      farthest = at;
    }
  });
  return farthest;
}

// One mark for each sample; far out ones are rings, or triangles at the edge that they lie beyond.
function mprof_strip_mark(panel, at, x, range, far, color, theme) {
  var value = panel.points[at] / mprof_strip_parts;
  var mark = { value: [x, Math.min(Math.max(value, range.low), range.high)], at: at };
  if (far) {
    mark.symbol = 'circle';
    mark.symbolSize = 8;
    mark.itemStyle = { color: theme.ground, borderColor: color, borderWidth: 2, opacity: 1 };
  }
  if (value > range.high || value < range.low) {
    mark.symbol = 'triangle';
    mark.symbolSize = 9;
    mark.symbolRotate = value > range.high ? 0 : 180;
    mark.symbolOffset = [0, value > range.high ? 5 : -5];
    mark.itemStyle = { color: color, opacity: 1 };
  }
  return mark;
}

// The farthest of those out of sight says how far out it is.
function mprof_strip_label(panel, mark, end, theme) {
  mark.label = { show: true, position: mark.value[0] > end * 0.8 ? 'left' : 'right', distance: 4, fontSize: 11, color: theme.text,
                 formatter: mprof_strip_percent(panel.points[mark.at] / mprof_strip_parts), textBorderColor: theme.ground,
                 textBorderWidth: 3 };
}

function mprof_strip_marks(panel, place, rounds, range, theme) {
  var far = {}, by_two = panel.sides.length > 1, farthest = mprof_strip_farthest(panel, range);
  panel.far.forEach(function (at) { far[at] = true; });
  return rounds.map(function (round, index) {
    var kind = by_two ? round.side : index % 2, color = mprof_cycle(theme.series, kind), data = [];
    for (var i = 0; i < round.count; i++) {
      var at = round.from + i, mark = mprof_strip_mark(panel, at, round.left + (i + 0.5) / round.count, range, far[at], color, theme);
      if (at === farthest) mprof_strip_label(panel, mark, rounds[rounds.length - 1].left + 1, theme);
      data.push(mark);
    }
    return {
      type: 'scatter', xAxisIndex: place, yAxisIndex: place, symbol: mprof_strip_symbols[by_two ? kind : 0], clip: false,
      symbolSize: round.count > 60 ? 4 : 6, z: 3, itemStyle: { color: color, opacity: 0.85 },
      emphasis: { scale: 1.6 }, data: data,
      tooltip: {
        formatter: function (item) {
          var distance = panel.points[item.data.at] / mprof_strip_parts, side = panel.sides[round.side];
          var time = Number((panel.center * (1 + distance / 100)).toPrecision(4)) + ' ' + panel.unit;
          var where = (side.name ? side.name + ', ' : '') + (rounds.length > panel.sides.length ? 'round ' + round.number : '');
          return echarts.format.encodeHTML(panel.name + (where ? ': ' + where.replace(/, $/, '') : '')) + '<br>' + item.marker + ' ' +
                 echarts.format.encodeHTML(time + ', ' + mprof_strip_percent(distance)) + (far[item.data.at] ? ', far out' : '');
        }
      }
    };
  });
}

// What the rounds are called below the lowest panel, as far as there is room.
function mprof_strip_names(view, rounds, width) {
  var room = (width - mprof_strip_size.left - mprof_strip_size.right) / rounds.length, names = {};
  var sides = view.series[0].sides;
  rounds.forEach(function (round) {
    var name = sides[round.side].name, several = sides[round.side].rounds.length > 1;
    var text = !several ? name : name + (name ? ' ' : '') + (room > 64 + 7 * name.length ? 'round ' : '') + round.number;
    names[String(round.left + 0.5)] = rounds.length > 1 ? text : '';
  });
  return names;
}

function mprof_strip_axes(view, place, rounds, range, ticks, names, theme, width) {
  var top = mprof_strip_size.head + place * (mprof_strip_size.title + mprof_strip_size.plot + mprof_strip_size.gap) + mprof_strip_size.title;
  var last = place === view.series.length - 1;
  return {
    grid: { left: mprof_strip_size.left, right: mprof_strip_size.right, top: top, height: mprof_strip_size.plot },
    title: { text: view.series[place].name + ': ' + view.series[place].text, left: 0, top: top - mprof_strip_size.title, padding: 0,
             textStyle: { color: theme.text, fontSize: 12, fontWeight: 'bold', width: width, overflow: 'truncate' } },
    xAxis: {
      type: 'value', gridIndex: place, min: 0, max: rounds[rounds.length - 1].left + 1, axisLine: { show: false },
      axisTick: { show: false }, splitLine: { show: false },
      axisLabel: { show: last, color: theme.muted, fontSize: 12, hideOverlap: true,
                   customValues: rounds.map(function (round) { return round.left + 0.5; }),
                   formatter: function (value) { return names[String(value)] || ''; } },
      name: last ? view.axis.name : '', nameLocation: 'middle', nameGap: rounds.length > 1 ? 24 : 10,
      nameTextStyle: { color: theme.muted, fontSize: 12 }
    },
    yAxis: {
      type: 'value', gridIndex: place, min: range.low, max: range.high, axisLine: { show: false }, axisTick: { show: false },
      splitLine: { show: false },
      axisLabel: { color: theme.muted, fontSize: 11, customValues: ticks, hideOverlap: true, formatter: mprof_strip_percent }
    }
  };
}

function mprof_strips(view, theme, width) {
  var option = mprof_frame(view, theme, width);
  ['grid', 'title', 'xAxis', 'yAxis', 'series'].forEach(function (part) { option[part] = []; });
  option.legend = { show: false };
  view.series.forEach(function (panel, place) {
    var rounds = mprof_strip_rounds(panel), range = mprof_strip_range(panel);
    var ticks = mprof_linear_ticks(range.low, range.high);
    var axes = mprof_strip_axes(view, place, rounds, range, ticks, mprof_strip_names(view, rounds, width), theme, width);
    ['grid', 'title', 'xAxis', 'yAxis'].forEach(function (part) { option[part].push(axes[part]); });
    option.series.push(mprof_strip_ground(panel, place, rounds, range, ticks, theme));
    option.series = option.series.concat(mprof_strip_marks(panel, place, rounds, range, theme));
    option.series.push(mprof_strip_levels(panel, place, rounds, theme));
  });
  return option;
}

mprof_kinds.strip = mprof_strips;
mprof_heights.strip = function (view) {
  var panels = view.series.length;
  return mprof_strip_size.head + panels * (mprof_strip_size.title + mprof_strip_size.plot) + (panels - 1) * mprof_strip_size.gap + mprof_strip_size.axis;
};
