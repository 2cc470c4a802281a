// SPDX-License-Identifier: MIT
// What the controls beside a timeline do: which cases it shows, and which part of their time.

const mprof_whole_window = { start: 0, end: 100 };

function mprof_say_zoom(plot) {
  var zoom = plot.view.zoom || mprof_whole_window, percent = mprof_timeline_window(plot.view) / 100;
  plot.element.closest('figure').querySelector('output').textContent = zoom.start === 0 && zoom.end === 100 ?
      'All is shown.' : mprof_time_text(zoom.start * percent) + ' to ' + mprof_time_text(zoom.end * percent);
}

// In percent of the window.
function mprof_zoom_to(plot, start, span) {
  span = Math.min(Math.max(span, 0.01), 100);
  start = Math.min(Math.max(start, 0), 100 - span);
  plot.chart.dispatchAction({ type: 'dataZoom', start: start, end: start + span });
}

function mprof_zoom_by_button(plot, what) {
  var zoom = plot.view.zoom || mprof_whole_window, span = zoom.end - zoom.start;
  if (what === 'in') mprof_zoom_to(plot, zoom.start + span / 4, span / 2);
  if (what === 'out') mprof_zoom_to(plot, zoom.start - span / 2, span * 2);
  if (what === 'earlier') mprof_zoom_to(plot, zoom.start - span / 2, span);
  if (what === 'later') mprof_zoom_to(plot, zoom.start + span / 2, span);
  if (what === 'all') mprof_zoom_to(plot, 0, 100);
}

// What is under the pointer stays there.
function mprof_zoom_by_wheel(plot, event) {
  var axis = plot.chart.convertFromPixel({ xAxisIndex: 0 }, event.clientX - plot.element.getBoundingClientRect().left);
  var zoom = plot.view.zoom || mprof_whole_window, span = zoom.end - zoom.start, factor = event.deltaY < 0 ? 0.8 : 1.25;
  var at = Math.min(Math.max(axis / plot.chart.getOption().xAxis[0].max * 100, zoom.start), zoom.end);
  mprof_zoom_to(plot, at - (at - zoom.start) * factor, span * factor);
}

function mprof_zoomed(plot) {
  var inside = plot.chart.getOption().dataZoom[0];
  plot.view.zoom = { start: inside.start, end: inside.end };
  plot.chart.setOption({ xAxis: { axisLabel: { showMinLabel: inside.start === 0 } } });
  mprof_say_zoom(plot);
}

function mprof_choose_cases(plot, selects, redraw) {
  var chosen = selects.map(function (select) { return select.value; });
  plot.view.shown = chosen.filter(function (value) { return value !== ''; }).map(Number);
  plot.view.zoom = null;
  plot.element.setAttribute('aria-label', 'Timeline of ' + plot.view.shown.map(function (index) {
    return plot.view.cases[index].alt;
  }).join('. Below it ') + '. The table holds the figures.');
  redraw();
  mprof_say_zoom(plot);
}

function mprof_start_timeline(plot, redraw) {
  var figure = plot.element.closest('figure');
  var selects = Array.prototype.slice.call(figure.querySelectorAll('select'));
  selects.forEach(function (select) {
    select.addEventListener('change', function () { mprof_choose_cases(plot, selects, redraw); });
  });
  figure.querySelectorAll('[data-zoom]').forEach(function (button) {
    button.addEventListener('click', function () { mprof_zoom_by_button(plot, button.dataset.zoom); });
  });
  plot.chart.on('datazoom', function () { mprof_zoomed(plot); });
  plot.element.addEventListener('wheel', function (event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    mprof_zoom_by_wheel(plot, event);
  }, { passive: false });
  // A browser may remember another choice than the page came with.
  mprof_choose_cases(plot, selects, redraw);
}
