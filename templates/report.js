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
    plot.chart.resize({ width: width, height: mprof_height(plot.view) });
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
      element.style.height = mprof_height(view) + 'px';
      var plot = { view: view, element: element, width: 0,
                   chart: echarts.init(element, null, { renderer: 'svg', width: element.clientWidth || 300,
                                                        height: mprof_height(view) }) };
      plots.push(plot);
      draw(plot, theme());
    });
    new ResizeObserver(function () {
      plots.forEach(function (plot) {
        if (plot.element.clientWidth !== plot.width) draw(plot, theme());
      });
    }).observe(document.querySelector('main'));
  }

  // --- Code gets its colours when it is unfolded ---

  function color_code(event) {
    if (!event.target.matches('details.code')) return;
    event.target.querySelectorAll('code').forEach(function (code) {
      if (code.dataset.colored) return;
      code.dataset.colored = 'yes';
      code.innerHTML = Prism.highlight(code.textContent, Prism.languages[code.className.replace('language-', '')], 'cpp');
    });
  }

  // C++ with what CUDA adds to it.
  Prism.languages.cuda = Prism.languages.extend('cpp', {});
  Prism.languages.insertBefore('cuda', 'keyword', {
    'cuda-keyword': {
      pattern: /\b(?:__(?:global|device|host|shared|constant|managed|restrict|launch_bounds|grid_constant|forceinline|noinline)__|(?:thread|block)Idx|(?:block|grid)Dim|warpSize)\b/,
      alias: 'keyword'
    }
  });

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
  document.addEventListener('toggle', color_code, true);
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
