// SPDX-License-Identifier: MIT
// The charts of a report, each defined once: a function from a chart's view (report/views/chart_views.cpp) to an ECharts
// option. The page draws them live; mprof itself runs the same code to write static SVG. So: ES5, no document, no window.
// Here is what they share, and the dots and bars; each other kind of chart has a file of its own.

var mprof_themes = {
  light: {
    text: '#1f2328', muted: '#59636e', line: '#d1d9e0', faint: '#eef1f4', ground: '#ffffff', hatch: '#fefefe',
    series: ['#0b62b0', '#c2570c', '#0f7b5f', '#8250c4', '#8a6700', '#b8336a', '#3d6b7d', '#6e5548'],
    stack: ['#1f5fa8', '#f2a65a', '#14634f', '#cdb2ee', '#6a4f10', '#8ccfe6', '#8f2d56', '#b7d77a', '#3d3a8c', '#f5c6d6',
            '#0f6b7a', '#f3e08a', '#7a2e12', '#a6e3c5', '#4c4452', '#e6b8a2', '#2f4a1d', '#c9d3f7', '#8a949e'],
    stack_text: ['#fffffe', '#101419'],
    budget: ['#1d5ea6', '#86d3bd', '#a6550b', '#f3a75c', '#6b4e11', '#f1e2a2', '#4c5660', '#ccb1ed', '#7b3fb4', '#efa9c7',
             '#0f6b7a', '#b9c1c9', '#e4d7b0', '#6b7a2e'],
    budget_text: ['#fffffe', '#101419', '#fffffe', '#101419', '#fffffe', '#101419', '#fffffe', '#101419', '#fffffe',
                  '#101419', '#fffffe', '#101419', '#101419', '#fffffe'],
    timeline: ['#c4ccd4', '#e1e6eb', '#b5d3c9', '#9b2f5c', '#f6d3ae', '#86b3e0', '#d5dae0', '#a0a8b1',
               '#1f5fa8', '#f2a65a', '#14634f', '#8ccfe6', '#6a4f10', '#24292e'],
    timeline_text: ['#fffffe', '#101419', '#101418'],
    heat: ['#0b4a86', '#2b6cab', '#6a9fd0', '#97bde0', '#bcd5ec', '#d8e6f4', '#edf3fa'],
    heat_text: ['#fffefe', '#fffefe', '#0f1318', '#0f1318', '#0f1318', '#0f1318', '#0f1318']
  },
  dark: {
    text: '#e6edf3', muted: '#9da5ae', line: '#3d444d', faint: '#22272e', ground: '#0d1117', hatch: '#0e1218',
    series: ['#5aa9f0', '#f08c4a', '#3fbf9b', '#b794e6', '#d9b441', '#ef7fab', '#86b8ca', '#c4a596'],
    stack: ['#3d8bdc', '#f5bd85', '#2aa481', '#d9c5f7', '#a5842c', '#a9dff0', '#d4709b', '#c7e394', '#8583e0', '#f7d5e1',
            '#3fa9bb', '#f6e9a8', '#c96a42', '#bdeed6', '#998ea3', '#efcbb9', '#7da35e', '#d7defa', '#79848f'],
    stack_text: ['#0a0d12', '#0a0d12'],
    budget: ['#3e8cdb', '#a3e0cf', '#cf7a2b', '#f6be86', '#a6853d', '#f4e9b8', '#7d8893', '#dac6f6', '#b07ee6', '#f3bdd5',
             '#3fa9bb', '#a9b2bb', '#d9cda3', '#a3b35c'],
    budget_text: ['#0a0d12', '#0a0d12', '#0a0d12', '#0a0d12', '#0a0d12', '#0a0d12', '#0a0d12', '#0a0d12', '#0a0d12',
                  '#0a0d12', '#0a0d12', '#0a0d12', '#0a0d12', '#0a0d12'],
    timeline: ['#4a525c', '#343b44', '#3f6156', '#d4709b', '#7d5a38', '#34608f', '#3a4149', '#666f79',
               '#62a8f2', '#f5bd85', '#2aa481', '#7cc4dc', '#c9a452', '#dfe5ec'],
    timeline_text: ['#0a0d12', '#f0f3f6', '#0a0d11'],
    heat: ['#b5dafc', '#7db8ef', '#32699f', '#2a5986', '#22496e', '#1b3a57', '#152c42'],
    heat_text: ['#0b0d11', '#0b0d11', '#fefeff', '#fefeff', '#fefeff', '#fefeff', '#fefeff']
  }
};

// Places in a stack are dark and light in turn, so that neighbours differ in lightness too, and so does the text on them;
// the last one is for what has no name of its own, on which dark text stands. A series says its place. Shades of heat
// go from what stands out most to what hardly does, in one hue: their order shows in grey as well.

// A second channel beside colour: nobody needs to tell hues apart.
var mprof_symbols = ['circle', 'rect', 'triangle', 'diamond', 'emptyCircle', 'emptyRect', 'emptyTriangle',
                     'emptyDiamond'];

// Single quotes inside: ECharts puts it into a style attribute as it is.
var mprof_font = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";

// Marks of one row stand above each other, so that equal values do not hide one another.
function mprof_dodge(index, count) {
  var step = Math.min(7, 20 / Math.max(count - 1, 1));
  return (index - (count - 1) / 2) * step;
}

function mprof_cycle(list, index) { return list[index % list.length]; }

// Width that the row labels get: as much as the longest needs, but never most of the chart.
function mprof_label_width(view, width) {
  var longest = 0;
  for (var i = 0; i < view.rows.length; i++) longest = Math.max(longest, view.rows[i].length);
  return Math.min(Math.ceil(longest * 7.2) + 8, Math.floor(width * 0.4));
}

var mprof_legend_gap = 24;  // a font of the reader's may be wider than the one it is reckoned by
var mprof_legend_margin = 10;  // a font may be wider than reckoned
var mprof_symbol_widths = { dots: 12, percent_bars: 18, stacked_bars: 12 };  // in a legend; a hatched one needs room

// What all charts share: a row for each variant, legend above, axis below.
function mprof_frame(view, theme, width) {
  var label_width = mprof_label_width(view, width);
  return {
    animation: false,
    backgroundColor: 'transparent',
    color: theme.series,
    textStyle: { fontFamily: mprof_font, color: theme.text },
    grid: { left: label_width + 14, right: 26, top: 34, bottom: 46 },
    legend: {
      left: 0, top: 0, itemWidth: mprof_symbol_widths.dots, itemHeight: 10, itemGap: mprof_legend_gap, type: 'scroll',
      textStyle: { color: theme.text, fontSize: 12 },
      pageTextStyle: { color: theme.muted }, pageIconColor: theme.muted, pageIconInactiveColor: theme.line
    },
    tooltip: {
      trigger: 'item', confine: true, backgroundColor: theme.ground, borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 13 }, extraCssText: 'white-space:normal;max-width:24rem',
      formatter: function (item) {
        return echarts.format.encodeHTML(item.data.title || view.rows[item.data.row]) + '<br>' + item.marker + ' ' +
               echarts.format.encodeHTML(item.seriesName + ': ' + (item.data.hover || item.data.words));
      }
    },
    yAxis: {
      type: 'category', inverse: true, data: view.rows,
      axisLine: { show: false }, axisTick: { show: false },
      axisLabel: { color: theme.text, fontSize: 12, interval: 0, width: label_width, overflow: 'truncate' },
      splitLine: { show: true, lineStyle: { color: theme.faint } }
    },
    xAxis: {
      name: view.axis.name, nameLocation: 'middle', nameGap: 28,
      nameTextStyle: { color: theme.muted, fontSize: 12 },
      axisLine: { show: false }, axisTick: { show: false },
      axisLabel: { color: theme.muted, fontSize: 12, hideOverlap: true },
      splitLine: { show: true, lineStyle: { color: theme.line } }
    }
  };
}

// Places in a decade, from few to many: the first set with four ticks in the range is taken.
var mprof_tick_sets = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 8]];

function mprof_ticks_of(set, low, high) {
  var ticks = [];
  for (var decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade++) {
    for (var i = 0; i < set.length; i++) {
      var tick = Number((set[i] * Math.pow(10, decade)).toPrecision(6));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}

// In a range so narrow that the axis is all but linear: multiples of a round step.
function mprof_linear_ticks(low, high) {
  var rough = (high - low) / 4, power = Math.pow(10, Math.floor(Math.log10(rough))), ticks = [];
  var step = power * (rough / power >= 5 ? 5 : rough / power >= 2 ? 2 : 1);
  for (var n = Math.ceil(low / step); n * step <= high; n++) ticks.push(Number((n * step).toPrecision(6)));
  return ticks;
}

function mprof_log_ticks(low, high) {
  for (var i = 0; i < mprof_tick_sets.length; i++) {
    var ticks = mprof_ticks_of(mprof_tick_sets[i], low, high);
    if (ticks.length >= 4) return ticks;
  }
  return mprof_linear_ticks(low, high);
}

function mprof_tick_text(value) {
  if (value >= 1e6 || value < 1e-4) return value.toExponential().replace('+', '');
  return String(Number(value.toPrecision(6)));
}

// Range of all marks, with the reference line inside and some air on both sides.
function mprof_extent(view) {
  var low = Infinity, high = -Infinity;
  view.series.forEach(function (series) {
    series.points.forEach(function (point) {
      low = Math.min(low, point.low);
      high = Math.max(high, point.high);
    });
  });
  if (view.axis.reference) {
    low = Math.min(low, view.axis.reference);
    high = Math.max(high, view.axis.reference);
  }
  var air = Math.max(Math.pow(high / low, 0.05), 1.04);
  return { low: low / air, high: high * air };
}

// A horizontal line from the low to the high end of an interval.
function mprof_whiskers(series, color, dodge) {
  return {
    type: 'custom', name: series.name, silent: true, tooltip: { show: false }, z: 1,
    data: series.points.map(function (point) { return [Math.log10(point.low), Math.log10(point.high), point.row]; }),
    encode: { x: [0, 1], y: 2 },
    renderItem: function (params, api) {
      var from = api.coord([api.value(0), api.value(2)]), to = api.coord([api.value(1), api.value(2)]);
      return {
        type: 'line', shape: { x1: from[0], y1: from[1] + dodge, x2: to[0], y2: to[1] + dodge },
        style: { stroke: color, lineWidth: 2, opacity: 0.55 }
      };
    }
  };
}

// A row for each variant, a mark for each problem, on a logarithmic axis: equal distances are equal factors. The axis
// holds logarithms, since ECharts' own logarithmic axis has no ticks between powers.
function mprof_dots(view, theme, width) {
  var extent = mprof_extent(view), option = mprof_frame(view, theme, width);
  var ticks = mprof_log_ticks(extent.low, extent.high);
  var positions = ticks.map(function (tick) { return Math.log10(tick); });
  if (mprof_more_legend(view, width) > 0) mprof_wrap_legend(view, option, width);
  option.xAxis.type = 'value';
  option.xAxis.min = Math.log10(extent.low);
  option.xAxis.max = Math.log10(extent.high);
  option.xAxis.axisTick.customValues = positions;
  option.xAxis.axisLabel.customValues = positions;
  option.xAxis.axisLabel.formatter = function (position) { return mprof_tick_text(Math.pow(10, position)); };
  option.series = [];
  view.series.forEach(function (series, index) {
    var place = series.place === undefined ? index : series.place;  // among all, where a reader has chosen one of them
    var color = mprof_cycle(theme.series, place), dodge = mprof_dodge(index, view.series.length);
    option.series.push({
      type: 'scatter', name: series.name, symbol: mprof_cycle(mprof_symbols, place), symbolSize: 10, z: 3,
      symbolOffset: [0, dodge],
      itemStyle: { color: color, opacity: 1 },
      data: series.points.map(function (point) {
        return { value: [Math.log10(point.value), point.row], row: point.row, words: point.text };
      })
    });
    option.series.push(mprof_whiskers(series, color, dodge));
  });
  if (view.axis.reference && option.series.length > 0) {
    option.series[0].markLine = {
      silent: true, symbol: 'none', label: { show: false },
      lineStyle: { color: theme.muted, type: 'solid', width: 1.5 },
      data: [{ xAxis: Math.log10(view.axis.reference) }]
    };
  }
  return option;
}

// A stroke across each bar that has something to be held against, where that stood.
function mprof_strokes(series, theme, index, count) {
  var points = series.points.filter(function (point) { return point.before !== undefined; });
  return {
    type: 'custom', name: series.name, silent: true, tooltip: { show: false }, z: 4,
    data: points.map(function (point) { return [point.before, point.row]; }), encode: { x: 0, y: 1 },
    renderItem: function (params, api) {
      var at = api.coord([api.value(0), api.value(1)]);
      var bar = api.barLayout({ count: count, barMaxWidth: mprof_bar_width, barGap: '15%' })[index];
      var top = at[1] + bar.offsetCenter - bar.width / 2 - 2;
      return {
        type: 'rect', shape: { x: at[0] - 1.5, y: top, width: 3, height: bar.width + 4 },
        style: { fill: theme.text, stroke: theme.ground, lineWidth: 1 }
      };
    }
  };
}

var mprof_bar_width = 14;

function mprof_percent_end(view) {
  var end = 100;
  view.series.forEach(function (series) {
    series.points.forEach(function (point) { end = Math.max(end, Math.ceil(Math.max(point.value, point.before || 0) / 10) * 10); });
  });
  return end;
}

// Bars towards a limit of 100 %, hatched when what they show is modelled.
function mprof_percent_bars(view, theme, width) {
  var option = mprof_frame(view, theme, width), count = view.series.length;
  option.grid.right = view.modelled ? 54 : 84;
  option.xAxis.type = 'value';
  option.xAxis.min = 0;
  option.xAxis.max = mprof_percent_end(view);
  option.legend.itemWidth = mprof_symbol_widths.percent_bars;
  if (mprof_more_legend(view, width) > 0) mprof_wrap_legend(view, option, width);
  option.series = [];
  var pixels = (width - option.grid.left - option.grid.right) / option.xAxis.max;
  view.series.forEach(function (series, index) {
    var style = { color: mprof_cycle(theme.series, index) };
    if (view.modelled) {
      style.decal = { symbol: 'rect', color: theme.hatch, dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 };
    }
    option.series.push({
      type: 'bar', name: series.name, barMaxWidth: mprof_bar_width, barGap: '15%', itemStyle: style,
      label: {
        show: true, position: 'right', color: theme.muted, fontSize: 11,
        formatter: function (item) { return item.data.words; }
      },
      data: series.points.map(function (point) {
        // The words stand beyond the stroke, not under it.
        var beyond = point.before > point.value ? (point.before - point.value) * pixels + 4 : 0;
        return { value: [point.value, point.row], row: point.row, words: point.text, hover: point.hover,
                 label: { distance: 5 + beyond } };
      })
    });
    if (!view.modelled) option.series.push(mprof_strokes(series, theme, index, count));
  });
  return option;
}

// The longest stack, and so the end of the axis.
function mprof_longest_stack(view) {
  var sums = view.rows.map(function () { return 0; });
  view.series.forEach(function (series) {
    series.points.forEach(function (point) { sums[point.row] += point.value; });
  });
  return Math.max.apply(null, sums);
}

// Names of parts are worth more than room: the legend takes as many lines as it needs, and no second page.
var mprof_legend_line = 12 + mprof_legend_gap;  // ECharts keeps lines as far apart as names

function mprof_legend_lines(view, width, symbol_width, gap) {
  var lines = 1, used = 0;
  view.series.forEach(function (series) {
    var item = series.name.length * 6.8 + symbol_width + 5 + gap;
    if (used > 0 && used + item > width) {
      lines++;
      used = 0;
    }
    used += item;
  });
  return lines;
}

// Lines beyond the first, where the chart grows by them.
function mprof_more_legend(view, width) {
  var symbol_width = mprof_symbol_widths[view.kind];
  return symbol_width ? mprof_legend_lines(view, width, symbol_width, mprof_legend_gap) - 1 : 0;
}

function mprof_wrap_legend(view, option, width) {
  var lines = mprof_legend_lines(view, width, option.legend.itemWidth, option.legend.itemGap);
  option.legend.type = 'plain';
  option.legend.width = width - mprof_legend_margin;
  option.grid.top += (lines - 1) * mprof_legend_line;
}

// A bar for each row, cut into its parts. A part that is wide enough holds its own figure. Each series has its own place
// in the palette, whichever others there are; a view may name another one than that of stacks (`palette`).
function mprof_stacked_bars(view, theme, width) {
  var option = mprof_frame(view, theme, width), longest = mprof_longest_stack(view);
  var room = width - option.grid.left - option.grid.right;
  var palette = view.palette || 'stack', colours = theme[palette], text_colours = theme[palette + '_text'];
  var last = colours.length - 1;
  option.xAxis.type = 'value';
  option.xAxis.min = 0;
  if (view.longest) option.xAxis.max = view.longest;
  mprof_wrap_legend(view, option, width);
  option.series = view.series.map(function (series) {
    var place = series.place;
    return {
      type: 'bar', name: series.name, stack: 'all', barMaxWidth: 18,
      itemStyle: { color: mprof_cycle(colours, place), borderColor: theme.ground, borderWidth: 1 },
      data: series.points.map(function (point) {
        return {
          value: [point.value, point.row], row: point.row, words: point.text, hover: point.hover,
          label: { show: point.value / longest * room > 9 * point.text.length, position: 'inside', fontSize: 11,
                   color: mprof_cycle(text_colours, place === last ? 1 : place), formatter: point.text }
        };
      })
    };
  });
  option.color = view.series.map(function (series) { return mprof_cycle(colours, series.place); });
  return option;
}

// The functions that draw each kind, and how high a row of it is, or all of it. Other files add theirs.
var mprof_kinds = { dots: mprof_dots, percent_bars: mprof_percent_bars, stacked_bars: mprof_stacked_bars };
var mprof_row_heights = { dots: 36, percent_bars: 46, stacked_bars: 28 };
var mprof_heights = {};

function mprof_option(view, theme_name, width) {
  if (!mprof_kinds[view.kind]) throw new Error('there is no chart of the kind ' + view.kind);
  return mprof_kinds[view.kind](view, mprof_themes[theme_name], width);
}

// `width` counts where a legend takes as many lines as it needs.
function mprof_height(view, width) {
  if (mprof_heights[view.kind]) return mprof_heights[view.kind](view, width);
  return 84 + mprof_legend_line * mprof_more_legend(view, width) + (view.row_height || mprof_row_heights[view.kind]) * Math.max(view.rows.length, 1);
}

// --- Static SVG ------------------------------------------------------------------------------------------------------

// Drawn in the light theme; where the reader's surroundings are dark, each colour gives way to its dark counterpart.
function mprof_static_style(view) {
  var rules = '', light = mprof_themes.light, dark = mprof_themes.dark;
  function rule(from, to) {
    rules += '[fill="' + from + '"]{fill:' + to + '}[stroke="' + from + '"]{stroke:' + to + '}';
  }
  for (var key in light) {
    if (key.indexOf('stack') === 0 && (view.kind !== 'stacked_bars' || view.palette)) continue;
    if (key.indexOf('budget') === 0 && view.palette !== 'budget') continue;
    if (key.indexOf('timeline') === 0 && view.kind !== 'timeline') continue;
    if (key.indexOf('heat') === 0 && view.kind !== 'heat_map') continue;
    var from = [].concat(light[key]), to = [].concat(dark[key]);
    for (var i = 0; i < from.length; i++) {
      if (from.indexOf(from[i]) === i) rule(from[i], to[i]);
    }
  }
  return '<style>text{font-family:' + mprof_font + '}@media (prefers-color-scheme:dark){' + rules + '}</style>';
}

// What only a live page needs goes; ids must not depend on how many charts were drawn before.
function mprof_strip(svg) {
  return svg.replace(/<style ?><!\[CDATA\[[\s\S]*?\]\]>\s*<\/style>\n?/g, '')
      .replace(/ (class="zr[^"]*"|ecmeta_\w+="[^"]*"|pointer-events="visible"|xml:space="preserve")/g, '')
      .replace(/ style="font-size:(\d+)px;font-family:[^"]*"/g, ' font-size="$1"')
      .replace(/(id="|url\(#)zr\d+-/g, '$1');
}

// Called by mprof with a view as JSON.
function mprof_static_svg(json) {
  var view = JSON.parse(json), width = 840, height = mprof_height(view, width);
  var chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: width, height: height });
  try {
    chart.setOption(mprof_option(view, 'light', width));
    return mprof_strip(chart.renderToSVGString())
        .replace('>', '><title>' + echarts.format.encodeHTML(view.title) + '</title>' + mprof_static_style(view)) + '\n';
  } finally {
    chart.dispose();
  }
}
