// SPDX-License-Identifier: MIT
// The filter above a comparison's charts: by verdict, and by words as the tables filter their rows. It chooses rows of charts
// that have some, and charts that have none.
(function () {
  'use strict';

  const section = document.querySelector('section[data-filter]');
  if (!section) return;
  const { plots, refresh } = window.mprof_charts;
  const tagged = plots.filter(plot => plot.view.tags);
  const every = '';
  const filter = { verdict: every, words: [] };

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function passes(tag) {
    const text = `${tag.text} ${tag.verdict}`.toLowerCase();
    return (filter.verdict === every || tag.verdict === filter.verdict) && filter.words.every(word => text.includes(word));
  }

  function is_filtering() { return filter.verdict !== every || filter.words.length > 0; }

  // --- What is shown ---

  // A line below the chart says what is not drawn of what the filter keeps.
  function say_more(plot, kept) {
    const line = document.querySelector(`[data-more="${plot.view.id}"]`);
    if (!line) return;
    line.textContent = !is_filtering() ? plot.view.more :
        kept > plot.view.most ? `The ${plot.view.most} largest changes of ${kept} are drawn.` : '';
    line.hidden = line.textContent === '';
  }

  function apply_to(plot) {
    const kept = plot.view.tags.map((tag, row) => row).filter(row => passes(plot.view.tags[row]));
    plot.figure.hidden = kept.length === 0;
    if (plot.view.rows.length === 0) return;
    plot.rows = is_filtering() ? kept : null;
    say_more(plot, kept.length);
    if (kept.length > 0) refresh(plot);
  }

  function count_text() {
    const tags = tagged[0].view.tags;
    return is_filtering() ? `${tags.filter(passes).length} of ${tags.length} times` : '';
  }

  function apply() {
    tagged.forEach(apply_to);
    const hidden = tagged.filter(plot => plot.figure.hidden).length;
    hidden_text.textContent = `${hidden} chart${hidden === 1 ? '' : 's'} hidden by the filter. `;
    hidden_line.hidden = hidden === 0;
    count.textContent = count_text();
    window.mprof_announce(count.textContent || 'All times');
  }

  // --- Controls ---

  const count = element('output', { className: 'count' });
  const search = element('input', { type: 'search', placeholder: 'Filter charts', spellcheck: false, autocomplete: 'off' });
  const hidden_text = element('span', {});
  const back = element('button', { type: 'button', textContent: 'Show all' });
  const hidden_line = element('p', { className: 'hidden-parts', hidden: true }, hidden_text, back);
  const inputs = [every, ...JSON.parse(section.dataset.filter).verdicts].map(value =>
    element('input', { type: 'radio', name: 'verdict', value, checked: value === every }));

  function show_all() {
    filter.verdict = every;
    filter.words = [];
    search.value = '';
    inputs[0].checked = true;
    apply();
  }

  function start() {
    const verdicts = element('fieldset', {}, element('legend', { textContent: 'Verdict' }), ...inputs.map(input =>
      element('label', {}, input, element('span', { textContent: input.value || 'all' }))));
    const bar = element('form', { className: 'switch' }, verdicts, element('div', { className: 'tools' }, search, count));
    bar.setAttribute('aria-label', 'Which times the charts show');
    search.setAttribute('aria-label', 'Filter charts by words');
    bar.addEventListener('submit', event => event.preventDefault());
    inputs.forEach(input => input.addEventListener('change', () => {
      filter.verdict = input.value;
      apply();
    }));
    search.addEventListener('input', () => {
      filter.words = search.value.toLowerCase().split(/\s+/).filter(word => word);
      apply();
    });
    search.addEventListener('keydown', event => { if (event.key === 'Escape') show_all(); });
    back.addEventListener('click', show_all);
    section.querySelector('h2').after(bar, hidden_line);
  }

  start();
  tagged.forEach(plot => say_more(plot, plot.view.tags.length));
})();
