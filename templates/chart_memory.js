// SPDX-License-Identifier: MIT
// Memory that is held over time: a line of steps, with its peak and the steady steps. See charts.js for the rules.

function mprof_memory_areas(view, theme) {
  if (!view.steady) return undefined;
  return {
    silent: true, itemStyle: { color: theme.faint },
    label: { show: true, position: 'insideBottom', color: theme.muted, fontSize: 11 },
    data: [[{ name: 'steady steps', xAxis: view.steady[0] }, { xAxis: view.steady[1] }]]
  };
}

function mprof_memory(view, theme, width) {
  var option = mprof_frame(view, theme, width), color = theme.series[0], series = view.series[0];
  option.grid.left = 64;
  option.legend.show = false;
  option.xAxis.type = 'value';
  option.xAxis.min = 0;
  option.xAxis.max = view.axis.end;
  option.xAxis.axisLabel.showMaxLabel = false;
  option.xAxis.splitLine.show = false;
  option.yAxis = {
    type: 'value', min: 0, name: view.axis.y, nameTextStyle: { color: theme.muted, fontSize: 12 },
    axisLabel: { color: theme.muted, fontSize: 12 }, splitLine: { lineStyle: { color: theme.line } }
  };
  option.tooltip.trigger = 'axis';
  option.tooltip.formatter = function (items) { return echarts.format.encodeHTML(items[0].data.words); };
  option.series = [{
    type: 'line', step: 'end', name: series.name, showSymbol: false, z: 3, itemStyle: { color: color },
    lineStyle: { color: color, width: 2 }, areaStyle: { color: color, opacity: 0.15 },
    data: series.points.map(function (point) { return { value: [point[0], point[1]], words: point[2] }; }),
    markArea: mprof_memory_areas(view, theme),
    markPoint: {
      silent: true, symbol: 'circle', symbolSize: 9, itemStyle: { color: theme.text },
      label: { show: true, position: view.peak[0] > view.axis.end / 2 ? 'left' : 'right', distance: 8, color: theme.text,
               fontSize: 12, fontWeight: 'bold', formatter: view.peak[2], textBorderColor: theme.ground, textBorderWidth: 4 },
      data: [{ coord: [view.peak[0], view.peak[1]] }]
    }
  }];
  return option;
}

mprof_kinds.memory = mprof_memory;
mprof_heights.memory = function () { return 280; };
