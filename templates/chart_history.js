// SPDX-License-Identifier: MIT
// Times over runs: a curve, with lines where they changed. See charts.js for the rules.

function mprof_history(view, theme, width) {
  var option = mprof_curve(view, theme, width);
  mprof_wrap_legend(view, option, width);
  if (view.axis.changes.length > 0) {
    option.series[0].markLine = {
      silent: true, symbol: 'none', lineStyle: { color: theme.text, type: 'dashed', width: 1.5 },
      data: view.axis.changes.map(function (change) {
        return { xAxis: change.at, label: { show: true, position: 'end', formatter: change.text, color: theme.text, fontSize: 11 } };
      })
    };
  }
  return option;
}

mprof_kinds.history = mprof_history;
mprof_symbol_widths.history = mprof_symbol_widths.dots;
mprof_heights.history = function (view, width) { return 340 + mprof_legend_line * mprof_more_legend(view, width); };
