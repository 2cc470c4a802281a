// What the page does beyond standing there: theme, charts, contents, scrolling tables. Everything is readable without.
(function () {
  'use strict';

  var root = document.documentElement;
  var dark_preferred = window.matchMedia('(prefers-color-scheme: dark)');
  var views = JSON.parse(document.getElementById('chart-data').textContent);
  var plots = [];

  // --- Theme: the system's, until the reader chooses ---

  function remembered_theme() {
    try { return localStorage.getItem('mprof-theme'); } catch (error) { return null; }
  }

  function remember_theme(theme) {
    try { localStorage.setItem('mprof-theme', theme); } catch (error) { /* a file page may have no storage */ }
  }

  function theme() {
    return root.dataset.theme || (dark_preferred.matches ? 'dark' : 'light');
  }

  function label_toggle() {
    var button = document.getElementById('theme');
    button.textContent = theme() === 'dark' ? 'Light theme' : 'Dark theme';
    button.hidden = false;
  }

  function choose_theme(chosen) {
    root.dataset.theme = chosen;
    label_toggle();
    draw_all(theme());
  }

  // --- Charts ---

  function draw(plot, theme_name) {
    var width = plot.element.clientWidth;
    if (width === 0) return;
    var height = mprof_height(plot.view, width);
    plot.element.style.height = height + 'px';
    plot.chart.resize({ width: width, height: height });
    plot.chart.setOption(mprof_option(plot.view, theme_name, width), true);
    plot.width = width;
  }

  function draw_all(theme_name) {
    plots.forEach(function (plot) { draw(plot, theme_name); });
  }

  function start_charts() {
    views.forEach(function (view) {
      var element = document.querySelector('[data-chart="' + view.id + '"]');
      if (!element) return;
      var width = element.clientWidth || 300;
      var plot = { view: view, element: element, width: 0,
                   chart: echarts.init(element, null, { renderer: 'svg', width: width, height: mprof_height(view, width) }) };
      plots.push(plot);
      draw(plot, theme());
      if (view.kind === 'timeline') start_timeline(plot);
    });
    new ResizeObserver(function () {
      plots.forEach(function (plot) {
        if (plot.element.clientWidth !== plot.width) draw(plot, theme());
      });
    }).observe(document.querySelector('main'));
  }

  // --- Timelines: which cases, and which part of their time ---

  var whole = { start: 0, end: 100 };

  function say_zoom(plot) {
    var zoom = plot.view.zoom || whole, percent = mprof_timeline_window(plot.view) / 100;
    plot.element.closest('figure').querySelector('output').textContent = zoom.start === 0 && zoom.end === 100 ?
        'All is shown.' : mprof_time_text(zoom.start * percent) + ' to ' + mprof_time_text(zoom.end * percent);
  }

  // In percent of the window.
  function zoom_to(plot, start, span) {
    span = Math.min(Math.max(span, 0.01), 100);
    start = Math.min(Math.max(start, 0), 100 - span);
    plot.chart.dispatchAction({ type: 'dataZoom', start: start, end: start + span });
  }

  function zoom_by_button(plot, what) {
    var zoom = plot.view.zoom || whole, span = zoom.end - zoom.start;
    if (what === 'in') zoom_to(plot, zoom.start + span / 4, span / 2);
    if (what === 'out') zoom_to(plot, zoom.start - span / 2, span * 2);
    if (what === 'earlier') zoom_to(plot, zoom.start - span / 2, span);
    if (what === 'later') zoom_to(plot, zoom.start + span / 2, span);
    if (what === 'all') zoom_to(plot, 0, 100);
  }

  // What is under the pointer stays there.
  function zoom_by_wheel(plot, event) {
    var axis = plot.chart.convertFromPixel({ xAxisIndex: 0 }, event.clientX - plot.element.getBoundingClientRect().left);
    var zoom = plot.view.zoom || whole, span = zoom.end - zoom.start, factor = event.deltaY < 0 ? 0.8 : 1.25;
    var at = Math.min(Math.max(axis / plot.chart.getOption().xAxis[0].max * 100, zoom.start), zoom.end);
    zoom_to(plot, at - (at - zoom.start) * factor, span * factor);
  }

  function zoomed(plot) {
    var inside = plot.chart.getOption().dataZoom[0];
    plot.view.zoom = { start: inside.start, end: inside.end };
    plot.chart.setOption({ xAxis: { axisLabel: { showMinLabel: inside.start === 0 } } });
    say_zoom(plot);
  }

  function choose_cases(plot, selects) {
    var chosen = selects.map(function (select) { return select.value; });
    plot.view.shown = chosen.filter(function (value) { return value !== ''; }).map(Number);
    plot.view.zoom = null;
    plot.element.setAttribute('aria-label', 'Timeline of ' + plot.view.shown.map(function (index) {
      return plot.view.cases[index].alt;
    }).join('. Below it ') + '. The table holds the figures.');
    draw(plot, theme());
    say_zoom(plot);
  }

  function start_timeline(plot) {
    var figure = plot.element.closest('figure');
    var selects = Array.prototype.slice.call(figure.querySelectorAll('select'));
    selects.forEach(function (select) {
      select.addEventListener('change', function () { choose_cases(plot, selects); });
    });
    figure.querySelectorAll('[data-zoom]').forEach(function (button) {
      button.addEventListener('click', function () { zoom_by_button(plot, button.dataset.zoom); });
    });
    plot.chart.on('datazoom', function () { zoomed(plot); });
    plot.element.addEventListener('wheel', function (event) {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom_by_wheel(plot, event);
    }, { passive: false });
    figure.querySelector('.controls').hidden = false;
    // A browser may remember another choice than the page came with.
    choose_cases(plot, selects);
  }

  // --- Only tables wider than their box need to be reached, and scrolled, by keyboard ---

  function mark_scrolling() {
    document.querySelectorAll('.scroll').forEach(function (box) {
      var scrolls = box.scrollWidth > box.clientWidth;
      box.classList.toggle('scrolls', scrolls);
      if (scrolls) {
        var figure = box.closest('figure');
        box.setAttribute('tabindex', '0');
        box.setAttribute('role', 'region');
        box.setAttribute('aria-label', figure ? figure.querySelector('figcaption').textContent : 'Command');
      } else {
        ['tabindex', 'role', 'aria-label'].forEach(function (name) { box.removeAttribute(name); });
      }
    });
  }

  // --- Paper has nothing to click on: what is folded away is opened for it ---

  var unfolded = [];

  function unfold() {
    unfolded = Array.prototype.slice.call(document.querySelectorAll('main details:not([open])'));
    unfolded.forEach(function (details) { details.open = true; });
  }

  function fold_again() {
    unfolded.forEach(function (details) { details.open = false; });
  }

  var saved = remembered_theme();
  if (saved === 'light' || saved === 'dark') root.dataset.theme = saved;
  label_toggle();
  document.getElementById('theme').addEventListener('click', function () {
    var chosen = theme() === 'dark' ? 'light' : 'dark';
    remember_theme(chosen);
    choose_theme(chosen);
  });
  dark_preferred.addEventListener('change', function () {
    label_toggle();
    draw_all(theme());
  });
  if (window.innerWidth < 1000) document.querySelector('nav details').removeAttribute('open');
  start_charts();
  mark_scrolling();
  window.addEventListener('resize', mark_scrolling);
  // What is folded away has no width until it is opened.
  document.addEventListener('toggle', mark_scrolling, true);
  window.addEventListener('beforeprint', function () {
    draw_all('light');
    unfold();
  });
  window.addEventListener('afterprint', function () {
    draw_all(theme());
    fold_again();
  });
})();
