// SPDX-License-Identifier: MIT
// What the page's tables do beyond standing there: a click on a head sorts, a word filters, a button copies. Nothing here
// reads figures: each cell brings the number that its text was made from (report/views/table.hpp), and one without is missing.
(function () {
  'use strict';

  const rows_worth_a_filter = 9;
  const said_for = 2000;  // ms that a button says what it has done
  const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  // --- What happens is also said to those who do not see it ---

  const announcements = element('p', { className: 'announce' });
  announcements.setAttribute('role', 'status');
  document.querySelector('main').append(announcements);

  function announce(text) { announcements.textContent = text; }

  // --- Cells ---

  // A long name breaks where its words end.
  for (const name of document.querySelectorAll('td.words:first-child > :first-child')) {
    const parts = name.textContent.split(/(?<=[\/_@])/);
    name.replaceChildren(...parts.flatMap(part => [element('wbr'), part]).slice(1));
  }

  function is_numeric(head) { return head.classList.contains('number'); }

  // What stands there, without its small print and its footnote's mark.
  function text_of(cell) { return cell.firstElementChild.textContent.trim(); }

  function without_mark(cell) {
    return [...cell.children].filter(part => part.tagName !== 'SUP').map(part => part.textContent).join(' ');
  }

  function title_of(head) {
    const unit = head.querySelector('.unit');
    const name = [...(head.querySelector('.sort') || head).childNodes].filter(part => part.nodeType === Node.TEXT_NODE)
        .map(part => part.textContent).join('').trim();
    return unit ? `${name} (${unit.textContent})` : name;
  }

  // --- Order and filter: which rows stand there, and in which order ---

  function is_missing(text) { return text === '' || text === '–'; }

  // A number, words, or null for what is missing. A column of figures that says no number at all is taken for words.
  function keys_of(table, column) {
    const cells = table.rows.map(row => row.cells[column]);
    const by_value = is_numeric(table.heads[column]) && cells.some(cell => cell.dataset.value !== undefined);
    return new Map(table.rows.map((row, place) => {
      const cell = cells[place], text = text_of(cell);
      if (by_value) return [row, cell.dataset.value === undefined ? null : Number(cell.dataset.value)];
      return [row, is_missing(text) ? null : text];
    }));
  }

  function sorted_rows(table) {
    if (!table.direction) return table.rows;
    const keys = keys_of(table, table.column);
    const sign = table.direction === 'ascending' ? 1 : -1;
    return [...table.rows].sort((a, b) => {
      const first = keys.get(a), second = keys.get(b);
      if (first === null || second === null) return (first === null) - (second === null);
      return sign * (typeof first === 'number' ? first - second : words.compare(first, second));
    });
  }

  function passes(row, wanted) {
    const text = [...row.cells].map(without_mark).join(' ').toLowerCase();
    return wanted.every(word => text.includes(word));
  }

  function shown_rows(table) { return [...table.body.rows].filter(row => !row.hidden); }

  // A name that repeats the one above it is quiet; which one that is has changed with the order.
  function mark_repeats(table) {
    if (is_numeric(table.heads[0])) return;
    let above = null;
    shown_rows(table).forEach(row => {
      const name = text_of(row.cells[0]);
      row.cells[0].classList.toggle('repeat', name === above);
      above = name;
    });
  }

  function arrange(table) {
    const wanted = table.filter ? table.filter.value.toLowerCase().split(/\s+/).filter(word => word) : [];
    table.rows.forEach(row => { row.hidden = wanted.length > 0 && !passes(row, wanted); });
    table.body.append(...sorted_rows(table));
    mark_repeats(table);
    const shown = shown_rows(table).length;
    table.figure.classList.toggle('filtered', wanted.length > 0);
    if (table.count) table.count.textContent = wanted.length > 0 ? `${shown} of ${table.rows.length} rows` : '';
  }

  function order_text(table) {
    if (!table.direction) return 'Original order';
    const head = table.heads[table.column], up = table.direction === 'ascending';
    const how = is_numeric(head) ? (up ? 'smallest first' : 'largest first') : (up ? 'A to Z' : 'Z to A');
    return `Sorted by ${title_of(head)}, ${how}`;
  }

  // Up, down, and back to the order of the report.
  function sort_by(table, column) {
    const next = { ascending: 'descending', descending: null };
    table.direction = table.column === column && table.direction ? next[table.direction] : 'ascending';
    table.column = column;
    table.heads.forEach((head, place) => {
      if (place === column && table.direction) head.setAttribute('aria-sort', table.direction);
      else head.removeAttribute('aria-sort');
    });
    arrange(table);
    announce(order_text(table));
  }

  // --- As Markdown: what stands there now, as GitHub reads it ---

  function escaped(text) {
    return text.replace(/[\u2007\u2008]/g, '').replace(/\s+/g, ' ').trim()
        .replace(/[\\`*[\]<|~$]/g, '\\$&')
        .replace(/&(?=[\w#])/g, '\\&')
        .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_');
  }

  function cell_as_markdown(cell) {
    const has = name => cell.classList.contains(name);
    const detail = cell.querySelector('small'), mark = cell.querySelector('sup');
    const around = (has('best') ? '**' : '') + (has('modelled') ? '*' : '');
    const text = escaped(text_of(cell));
    return (text && around + text + [...around].reverse().join('')) + (detail ? ' ' + escaped(detail.textContent) : '') +
           (mark ? `<sup>${escaped(mark.textContent)}</sup>` : '');
  }

  function notes_as_markdown(table, rows) {
    const used = new Set(rows.flatMap(row => [...row.querySelectorAll('sup')].map(mark => mark.textContent)));
    return [...table.figure.querySelectorAll('.notes > li')].filter(note => {
      const mark = note.querySelector('sup');
      return !mark || used.has(mark.textContent);
    }).map(note => {
      const mark = note.querySelector('sup');
      const text = [...note.childNodes].filter(part => part !== mark).map(part => part.textContent).join('');
      return `- ${mark ? `<sup>${escaped(mark.textContent)}</sup> ` : ''}${escaped(text)}`;
    });
  }

  function as_markdown(table) {
    const rows = shown_rows(table), line = cells => `| ${cells.join(' | ')} |`;
    const filter = table.filter && table.filter.value.trim();
    const part = filter ? ` (${rows.length} of ${table.rows.length} rows, with "${filter}")` : '';
    const lines = [`**${escaped(table.caption.textContent + part)}**`, '',
                   line(table.heads.map(head => escaped(title_of(head)))),
                   line(table.heads.map(head => is_numeric(head) ? '---:' : '---')),
                   ...rows.map(row => line([...row.cells].map(cell_as_markdown)))];
    const notes = notes_as_markdown(table, rows);
    return [...lines, ...(notes.length > 0 ? ['', ...notes] : []), ''].join('\n');
  }

  // Where the page may not use the clipboard, as some browsers hold for pages from disk: as a reader would copy.
  function copy_by_hand(text) {
    const focused = document.activeElement;
    const field = element('textarea', { value: text, className: 'announce' });
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    if (focused) focused.focus();
    return done;
  }

  function copy(text) {
    if (!navigator.clipboard) return Promise.resolve(copy_by_hand(text));
    return navigator.clipboard.writeText(text).then(() => true, () => copy_by_hand(text));
  }

  async function copy_table(table, button) {
    const done = await copy(as_markdown(table));
    const label = button.dataset.label;
    button.textContent = done ? 'Copied' : 'Not copied';
    announce(done ? `Copied as Markdown: ${table.caption.textContent}` : 'The browser did not allow copying');
    setTimeout(() => { button.textContent = label; }, said_for);
  }

  // --- Controls ---

  function add_sorting(table) {
    if (table.rows.length < 2) return;
    table.heads.forEach((head, column) => {
      const arrow = element('span', { className: 'arrow' });
      arrow.setAttribute('aria-hidden', 'true');
      const button = element('button', { type: 'button', className: 'sort' }, ...head.childNodes, arrow);
      button.addEventListener('click', () => sort_by(table, column));
      head.append(button);
    });
  }

  function add_filter(table, tools) {
    if (table.rows.length < rows_worth_a_filter) return;
    table.filter = element('input', { type: 'search', placeholder: 'Filter rows', spellcheck: false, autocomplete: 'off' });
    table.filter.setAttribute('aria-label', `Filter rows: ${table.caption.textContent}`);
    table.count = element('output', { className: 'count' });
    table.filter.addEventListener('input', () => arrange(table));
    table.filter.addEventListener('keydown', event => {
      if (event.key !== 'Escape') return;
      table.filter.value = '';
      arrange(table);
    });
    tools.append(table.count, table.filter);
  }

  function add_copying(table, tools) {
    const button = element('button', { type: 'button', textContent: 'Copy as Markdown' });
    button.dataset.label = button.textContent;
    button.setAttribute('aria-describedby', table.caption.id);
    button.addEventListener('click', () => copy_table(table, button));
    tools.append(button);
  }

  function add_controls(figure) {
    const body = figure.querySelector('tbody');
    if (!body) return;
    const table = { figure, body, caption: figure.querySelector('figcaption'), rows: [...body.rows],
                    heads: [...figure.querySelectorAll('thead th')], column: 0, direction: null };
    const tools = element('div', { className: 'tools' });
    add_sorting(table);
    add_filter(table, tools);
    add_copying(table, tools);
    table.caption.after(tools);
  }

  document.querySelectorAll('figure.table').forEach(add_controls);
  window.mprof_announce = announce;
})();
