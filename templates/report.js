// SPDX-License-Identifier: MIT
// What the page does beyond standing there: theme, charts and the choice among them, contents, links, paper. Everything is
// readable without; tables have a script of their own.
(function () {
  'use strict';

  const root = document.documentElement;
  const dark_preferred = window.matchMedia('(prefers-color-scheme: dark)');
  const views = JSON.parse(document.getElementById('chart-data').textContent);
  const near = '800px 0px';   // how far outside the window a chart is drawn already
  const page = { width: 700, length: 1030 };  // px between the margins of A4, upright and across, less a few
  const least_zoom = 0.8;     // a table that would have to be smaller on paper gets a page across

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function all(selector, inside) { return [...(inside || document).querySelectorAll(selector)]; }

  // To ask for the size of what is folded away has a browser lay it out, which is most of a large page.
  function is_folded(part) { return part.closest('details:not([open])') !== null; }

  // Of all parts before any of them changes, so that the page is laid out once.
  function widths_of(parts) { return parts.map(part => part && !is_folded(part) ? part.clientWidth : 0); }

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
    const button = document.getElementById('theme');
    button.textContent = theme() === 'dark' ? 'Light theme' : 'Dark theme';
    button.hidden = false;
  }

  function start_theme() {
    const saved = remembered_theme();
    if (saved === 'light' || saved === 'dark') root.dataset.theme = saved;
    label_toggle();
    document.getElementById('theme').addEventListener('click', () => {
      root.dataset.theme = theme() === 'dark' ? 'light' : 'dark';
      remember_theme(root.dataset.theme);
      label_toggle();
      redraw_all();
    });
    dark_preferred.addEventListener('change', () => {
      label_toggle();
      redraw_all();
    });
  }

  // --- Charts: { view, element, chart, width, problem, rows }. Drawn when they come near the window, all of them for paper ---

  const plots = [];

  // The rows that a filter keeps, in their order.
  function with_rows(view, rows) {
    const places = new Map(rows.map((row, place) => [row, place]));
    const kept = points => points.filter(point => places.has(point.row)).map(point => ({ ...point, row: places.get(point.row) }));
    const series = view.series.map(one => ({ ...one, points: kept(one.points) }));
    return { ...view, rows: rows.map(row => view.rows[row]), series: series.filter(one => one.points.length > 0) };
  }

  // A chosen problem alone, in the colour that it has among all.
  function view_of(plot) {
    if (plot.rows) return with_rows(plot.view, plot.rows);
    if (!plot.problem) return plot.view;
    const series = plot.view.series.map((one, place) => ({ ...one, place }));
    return { ...plot.view, series: series.filter(one => one.problem === undefined || one.problem === plot.problem) };
  }

  function draw(plot, theme_name, width) {
    if (!(width > 0)) return;
    const view = view_of(plot), height = mprof_height(view, width), is_new = !plot.chart;
    plot.element.style.height = height + 'px';
    plot.chart = plot.chart || echarts.init(plot.element, null, { renderer: 'svg', width, height });
    plot.chart.resize({ width, height });
    plot.chart.setOption(mprof_option(view, theme_name, width), true);
    plot.width = width;
    if (is_new && view.kind === 'timeline') mprof_start_timeline(plot, () => redraw(plot));
    if (is_new && view.kind === 'flame') mprof_start_flame(plot, () => redraw(plot));
  }

  function redraw(plot) {
    if (plot.chart && !printing) draw(plot, theme(), plot.element.clientWidth);
  }

  // After its rows were chosen anew; one that nobody has come near yet keeps its place free.
  function refresh(plot) {
    if (!plot.chart) plot.element.style.height = mprof_height(view_of(plot), plot.element.clientWidth || 300) + 'px';
    redraw(plot);
  }

  function redraw_all() { plots.forEach(redraw); }

  function draw_all() {
    const widths = widths_of(plots.map(plot => plot.element));
    plots.forEach((plot, i) => draw(plot, theme(), widths[i]));
  }

  function start_charts() {
    const seen = new IntersectionObserver(entries => entries.forEach(entry => {
      const plot = plots.find(one => one.element === entry.target);
      if (entry.isIntersecting && !plot.chart) draw(plot, theme(), plot.element.clientWidth);
    }), { rootMargin: near });
    const places = views.map(view => document.querySelector(`[data-chart="${view.id}"]`));
    const widths = widths_of(places);
    views.forEach((view, i) => {
      const place = places[i];
      if (!place) return;
      place.style.height = mprof_height(view, widths[i] || 300) + 'px';
      const controls = place.closest('figure').querySelector('.controls');
      if (controls) controls.hidden = false;
      plots.push({ view, element: place, figure: place.closest('figure'), chart: null, width: 0, problem: '', rows: null });
      seen.observe(place);
    });
    new ResizeObserver(() => plots.forEach(plot => {
      if (plot.element.clientWidth !== plot.width) redraw(plot);
    })).observe(document.querySelector('main'));
  }

  // --- The switch: which problem and which op the charts and the summary show. One for each family ---

  const switches = [];
  const every = '';  // no choice
  const the_whole = 'op:';

  // With a prefix, the op "" (the whole) differs from no choice.
  function op_of(view) { return view.op === undefined ? undefined : 'op:' + view.op; }

  function op_name(control, op) { return op === the_whole ? control.words.whole : op.slice('op:'.length); }

  function distinct(values) { return [...new Set(values)].filter(value => value !== undefined); }

  // In the order of the family's words; those that something is shown of.
  function problems_of(control) {
    const drawn = control.plots.flatMap(plot => [plot.view.problem, ...plot.view.series.map(series => series.problem)]);
    const shown = new Set([...control.tables.map(table => table.dataset.problem), ...drawn]);
    return control.words.problems.filter(problem => shown.has(problem.id));
  }

  function ops_of(control) {
    const ops = distinct(control.plots.map(plot => op_of(plot.view)));
    return [...ops.filter(op => op !== the_whole), ...ops.filter(op => op === the_whole)];
  }

  function radios(control, what, legend, values, name_of) {
    const group = element('fieldset', {}, element('legend', { textContent: legend }));
    control.inputs[what] = [every, ...values].map(value => {
      const input = element('input', { type: 'radio', name: `${control.anchor}-${what}`, value, checked: value === every });
      input.addEventListener('change', () => choose(control, { ...control.choice, [what]: value }, true));
      group.append(element('label', {}, input, element('span', { textContent: value === every ? 'all' : name_of(value) })));
      return input;
    });
    return group;
  }

  function shows_op(control, view) {
    return control.choice.op === every || op_of(view) === undefined || op_of(view) === control.choice.op;
  }

  // Charts in which problems are series show the chosen one; those about a single problem show it or nothing. Hardware
  // counts at one problem only, so the choice of problem leaves the section about it alone.
  function shows_problem(control, plot) {
    if (control.choice.problem === every || plot.view.problem === undefined || !control.section.contains(plot.figure)) return true;
    return plot.view.problem === control.choice.problem;
  }

  function say_what_is_hidden(control) {
    control.notes.forEach(note => {
      const hidden = note.parts().filter(part => part.hidden).length;
      note.line.hidden = hidden === 0;
      note.text.textContent = `${hidden} ${note.noun}${hidden === 1 ? '' : 's'} hidden by the ${control.words.choice}. `;
    });
  }

  function choice_text(control) {
    const { problem, op } = control.choice;
    const chosen = control.words.problems.find(one => one.id === problem);
    return [chosen && chosen.text, op && op_name(control, op)].filter(part => part).join(', ');
  }

  function apply(control) {
    control.plots.forEach(plot => {
      plot.figure.hidden = !(shows_op(control, plot.view) && shows_problem(control, plot));
      const problem = plot.view.series.some(series => series.problem === control.choice.problem) ? control.choice.problem : every;
      if (problem === plot.problem) return;
      plot.problem = problem;
      redraw(plot);
    });
    control.tables.forEach(table => {
      table.hidden = control.choice.problem !== every && table.dataset.problem !== control.choice.problem;
    });
    for (const [what, inputs] of Object.entries(control.inputs)) {
      inputs.forEach(input => { input.checked = input.value === control.choice[what]; });
    }
    const text = choice_text(control);
    control.printed.textContent = text && `Shown here: ${text}.`;
    say_what_is_hidden(control);
    mark_scrolling();
  }

  // What is above a section changes its height with a choice; what the reader looks at stays where it is.
  function without_moving(section, change) {
    const top = () => section.getBoundingClientRect().top;
    const before = top();
    root.style.overflowAnchor = 'none';
    change();
    if (before < 0 && top() !== before) section.scrollIntoView({ behavior: 'instant' });
    else window.scrollBy({ top: top() - before, behavior: 'instant' });
    requestAnimationFrame(() => { root.style.overflowAnchor = ''; });
  }

  function choose(control, choice, remember) {
    control.choice = choice;
    without_moving(control.section, () => apply(control));
    const charts = control.plots.filter(plot => !plot.figure.hidden).length;
    mprof_announce(`${choice_text(control) || control.words.all}: ${charts} of ${control.plots.length} charts`);
    if (remember) write_address(control);
  }

  function everything() { return { problem: every, op: every }; }

  // #family-charts:problem=1000,op=op%3Afirst leads to the charts with this choice; ':' is in no anchor of the page.
  function write_address(control) {
    const parts = Object.entries(control.choice).filter(([, value]) => value !== every)
        .map(([what, value]) => `${what}=${encodeURIComponent(value)}`);
    const address = '#' + control.anchor + (parts.length > 0 ? ':' + parts.join(',') : '');
    try { history.replaceState(null, '', address); } catch (error) { /* the choice is then not in the address */ }
  }

  function read_address() {
    const [anchor, parts] = location.hash.slice(1).split(':');
    const control = parts === undefined ? undefined : switches.find(one => one.anchor === anchor);
    if (!control) return false;
    reveal('#' + anchor);
    const choice = everything();
    parts.split(',').forEach(part => {
      const [what, value] = part.split('=');
      const known = (control.inputs[what] || []).find(input => encodeURIComponent(input.value) === value);
      if (known) choice[what] = known.value;
    });
    choose(control, choice, false);
    control.section.scrollIntoView({ behavior: 'instant' });
    return true;
  }

  // A line where something is hidden, with the way back.
  function add_note(control, place, noun, parts) {
    const text = element('span', {});
    const back = element('button', { type: 'button', textContent: 'Show all' });
    back.addEventListener('click', () => choose(control, everything(), true));
    const line = element('p', { className: 'hidden-parts', hidden: true }, text, back);
    place.after(line);
    control.notes.push({ line, text, noun, parts: () => parts });
  }

  function start_switch(section) {
    const family = section.dataset.charts, anchor = section.getAttribute('aria-labelledby');
    const of_family = all('[data-family]').filter(part => part.dataset.family === family);
    const control = { section, anchor, words: JSON.parse(section.dataset.switch), inputs: {}, notes: [], choice: everything(),
                      plots: plots.filter(plot => of_family.some(part => part.contains(plot.figure))),
                      tables: of_family.flatMap(part => all('[data-problem]', part)) };
    const problems = problems_of(control), ops = ops_of(control);
    const bar = element('form', { className: 'switch' });
    bar.setAttribute('aria-label', `Which charts of ${family} to show`);
    bar.addEventListener('submit', event => event.preventDefault());
    if (problems.length > 1) {
      const name_of = id => problems.find(problem => problem.id === id).name;
      bar.append(radios(control, 'problem', control.words.problem, problems.map(problem => problem.id), name_of));
    }
    if (ops.length > 1) bar.append(radios(control, 'op', control.words.op, ops, op => op_name(control, op)));
    if (bar.childElementCount === 0) return;
    control.printed = element('p', { className: 'chosen' });
    section.querySelector('h2').closest('summary').after(bar, control.printed);
    of_family.flatMap(part => all('.charts', part)).forEach(charts => {
      const figures = control.plots.map(plot => plot.figure).filter(figure => charts.contains(figure));
      if (figures.length > 0) add_note(control, charts, 'chart', figures);
    });
    if (control.tables.length > 0) add_note(control, control.tables[control.tables.length - 1], 'table', control.tables);
    switches.push(control);
  }

  // --- Contents: where the reader is ---

  let marked = null;  // the link of the part that is being read

  // What crosses this line is being read: a fifth below the top of the window, but over the last stretch of the page it goes
  // down to the bottom, so that each part is reached, however short those behind it are while they are folded.
  function reading_line() {
    const window_height = window.innerHeight, scrollable = root.scrollHeight - window_height;
    const stretch = Math.min(window_height, scrollable / 2);
    const near_end = stretch > 0 ? Math.max(0, 1 - (scrollable - window.scrollY) / stretch) : 0;
    return window_height * (0.2 + 0.8 * near_end) - 1;
  }

  // Of nested parts, the inner one.
  function mark_current(links) {
    const line = reading_line();
    const is_read = part => {
      const box = part.getBoundingClientRect();
      return box.top <= line && box.bottom > line;
    };
    const current = [...links.keys()].filter(is_read).pop();
    if (!current || links.get(current) === marked) return;
    marked = links.get(current);
    links.forEach(link => link.removeAttribute('aria-current'));
    let link = links.get(current);
    const folded = link.closest('details:not([open])');
    if (folded && folded.parentElement.closest('nav li')) link = folded.parentElement.querySelector('a');
    link.setAttribute('aria-current', 'location');
    const nav = link.closest('nav'), box = nav.getBoundingClientRect(), at = link.getBoundingClientRect();
    if (at.top < box.top || at.bottom > box.bottom) nav.scrollTop += at.top - box.top - box.height / 2;
  }

  function start_contents() {
    const links = new Map();
    all('nav a[href^="#"]').forEach(link => {
      const target = document.getElementById(link.hash.slice(1));
      if (target) links.set(target.closest('section') || target, link);
    });
    let frame = 0;
    const look = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => mark_current(links));
    };
    window.addEventListener('scroll', look, { passive: true });
    new ResizeObserver(look).observe(document.body);
    if (links.size > 0 && window.innerWidth < 1000) document.querySelector('nav details').open = false;
  }

  // --- Links lead to what is folded away or hidden, too ---

  function reveal(hash) {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(hash.slice(1))); } catch (error) { /* no anchor of ours */ }
    if (!target) return null;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === 'DETAILS') part.open = true;
      if (!part.hidden) continue;
      const control = switches.find(one => one.tables.includes(part) || one.plots.some(plot => plot.figure === part));
      if (control) choose(control, everything(), false);
    }
    return target;
  }

  function follow_address() {
    if (read_address()) return;
    const target = reveal(location.hash);
    if (target) target.scrollIntoView({ behavior: 'instant' });
  }

  function start_links() {
    // Before the browser goes there, also where the address stays the same.
    document.addEventListener('click', event => {
      const link = event.target.closest('a[href^="#"]');
      if (link) reveal(link.hash);
    });
    window.addEventListener('hashchange', follow_address);
    if (location.hash.length > 1) follow_address();
  }

  // --- Everything below the answer is folded until it is asked for: each part alone, or all of them ---

  // Listings and raw samples are long and seldom read, so that each of them is asked for on its own.
  function folds(inside) { return all('details:not(.code, .samples)', inside); }

  // The innermost section that stands where the reader looks, and is still there when all is folded.
  function section_in_sight() {
    const in_sight = all('main section').filter(section => {
      const box = section.getBoundingClientRect();
      return box.top < window.innerHeight / 5 && box.bottom > 0;
    });
    return in_sight.reverse().find(section => !section.parentElement.closest('details')) || document.querySelector('main');
  }

  function fold(scope, name, open) {
    without_moving(section_in_sight(), () => folds(scope).forEach(details => { details.open = open; }));
    mprof_announce(`${name} ${open ? 'unfolded' : 'folded'}`);
  }

  function fold_buttons(scope, name) {
    const buttons = [['Unfold all', true], ['Fold all', false]].map(([text, open]) => {
      const button = element('button', { type: 'button', textContent: text });
      button.setAttribute('aria-label', `${text}: ${name}`);
      button.addEventListener('click', () => fold(scope, name, open));
      return button;
    });
    return element('div', { className: 'folding' }, ...buttons);
  }

  function start_folding() {
    const main = document.querySelector('main');
    if (!main.querySelector('details.part')) return;
    document.getElementById('theme').after(fold_buttons(main, 'the whole report'));
    all('section[data-variants]').forEach(section => {
      const heading = section.querySelector('h2');
      heading.after(fold_buttons(section, heading.textContent));
    });
  }

  // --- Only tables wider than their box need to be reached, and scrolled, by keyboard. One that is folded away is measured when it
  // is opened ---

  function mark_scrolling() {
    const boxes = all('.scroll').filter(box => !is_folded(box)).map(box => {
      const width = box.clientWidth;
      return { box, width, scrolls: box.scrollWidth > width, is_tall: box.scrollHeight > box.clientHeight + 1 };
    });
    boxes.forEach(({ box, width, scrolls, is_tall }) => {
      box.classList.toggle('scrolls', scrolls);
      box.classList.toggle('fits', !scrolls && width > 0);
      if (scrolls || is_tall) {
        const figure = box.closest('figure'), summary = box.parentElement.querySelector('summary');
        box.setAttribute('tabindex', '0');
        box.setAttribute('role', 'region');
        box.setAttribute('aria-label',
                         figure ? figure.querySelector('figcaption').textContent :
                         summary ? summary.textContent : box.tagName === 'PRE' ? 'Command or code' : 'Table');
      } else {
        ['tabindex', 'role', 'aria-label'].forEach(name => box.removeAttribute(name));
      }
    });
  }

  // --- Paper has nothing to click on: what is folded away is opened for it, and all charts are drawn, at its width. But raw
  // samples are many, and stay away unless the reader has opened them. ---

  let printing = false;  // until it is over, nothing else draws
  let unfolded = [];

  function scale_to_page(plot) {
    const svg = plot.element.querySelector('svg');
    if (!svg) return;
    svg.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`);
    svg.setAttribute('preserveAspectRatio', 'xMinYMin');
  }

  // Wide tables get smaller type, or a page across.
  function fit_tables() {
    const figures = all('figure.table:has(table)');
    figures.forEach(figure => figure.classList.add('measured'));
    const widths = figures.map(figure => figure.querySelector('table').offsetWidth);
    figures.forEach((figure, place) => {
      const width = widths[place], across = page.width / width < least_zoom;
      figure.classList.remove('measured');
      figure.classList.toggle('wide', across);
      figure.style.setProperty('--zoom', Math.min(1, (across ? page.length : page.width) / width));
    });
  }

  function before_print() {
    printing = true;
    unfolded = all('main details:not([open], .samples)');
    unfolded.forEach(details => { details.open = true; });
    fit_tables();
    plots.forEach(plot => {
      if (plot.element.closest('.samples:not([open])')) return;
      draw(plot, 'light', page.width);
      scale_to_page(plot);
    });
  }

  function after_print() {
    printing = false;
    unfolded.forEach(details => { details.open = false; });
    plots.forEach(plot => {
      const svg = plot.element.querySelector('svg');
      if (svg) svg.removeAttribute('viewBox');
      redraw(plot);
    });
  }

  start_theme();
  start_charts();
  all('section[data-charts]').forEach(start_switch);
  start_contents();
  start_folding();
  mark_scrolling();
  start_links();
  window.addEventListener('resize', mark_scrolling);
  // What is folded away has no width until it is opened; when all is, one look at the tables is enough.
  let looking = 0;
  document.addEventListener('toggle', event => {
    if (event.target.open) plots.filter(plot => !plot.chart && event.target.contains(plot.element)).forEach(refresh);
    cancelAnimationFrame(looking);
    looking = requestAnimationFrame(mark_scrolling);
  }, true);
  window.addEventListener('beforeprint', before_print);
  window.addEventListener('afterprint', after_print);
  window.mprof_draw_all = draw_all;
  window.mprof_charts = { plots, refresh };
})();
