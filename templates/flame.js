// SPDX-License-Identifier: MIT
// What a reader does with a flame graph: a frame that is chosen, by a click, a tap or Enter, is as wide as the chart. Arrow
// keys go from frame to frame; Escape shows all again.

const mprof_flame_points = plot => plot.view.series[0].points;

function mprof_choose_frame(plot, place, redraw) {
  plot.view.chosen = place;
  plot.view.marked = place;
  redraw();
  mprof_say_frame(plot);
}

function mprof_say_frame(plot) {
  const point = mprof_flame_points(plot)[plot.view.marked];
  const text = point ? `${point[4]}: ${point[5]}` : 'All is shown.';
  plot.figure.querySelector('output').textContent = text;
}

const mprof_inside = (inner, outer) => inner[0] >= outer[0] - 1e-9 && inner[0] + inner[1] <= outer[0] + outer[1] + 1e-9;

// The frame that a key leads to: the one around it, the first one in it, or its neighbour at the same depth.
function mprof_next_frame(points, at, key) {
  if (at === undefined) return 0;
  const own = points[at], fits = {
    ArrowUp: point => point[2] === own[2] - 1 && mprof_inside(own, point),
    ArrowDown: point => point[2] === own[2] + 1 && mprof_inside(point, own),
    ArrowRight: point => point[2] === own[2] && point[0] > own[0],
    ArrowLeft: point => point[2] === own[2] && point[0] < own[0]
  }[key];
  const found = key === 'ArrowLeft' ? points.findLastIndex(fits) : points.findIndex(fits);
  return found < 0 ? at : found;
}

function mprof_start_flame(plot, redraw) {
  const output = document.createElement('output');
  output.className = 'said';
  output.textContent = 'Choose a frame to see what is below it: click, or use the arrow keys and Enter. Escape shows all.';
  plot.element.after(output);
  plot.element.tabIndex = 0;
  plot.chart.on('click', event => mprof_choose_frame(plot, event.dataIndex, redraw));
  plot.element.addEventListener('keydown', event => {
    if (event.key.startsWith('Arrow')) {
      plot.view.marked = mprof_next_frame(mprof_flame_points(plot), plot.view.marked, event.key);
      redraw();
      mprof_say_frame(plot);
    } else if (event.key === 'Enter' && plot.view.marked !== undefined) {
      mprof_choose_frame(plot, plot.view.marked, redraw);
    } else if (event.key === 'Escape') {
      mprof_choose_frame(plot, undefined, redraw);
    } else {
      return;
    }
    event.preventDefault();
  });
}
