// SPDX-License-Identifier: MIT
// One step of a program, drawn so that a reader can zoom, move and search. Without this script the page shows the same as a
// still picture. The data come from report/views/drawn_step_view.cpp; times in ns.
(function () {
  'use strict';

  const sizes = { row: 20, head: 22, axis: 24, gap: 2, letter: 6.3, narrow: 640 };
  const least_span = 200;      // ns; nothing on a GPU is shorter
  const most_joints = 150;     // more lines than these hide what they join

  function escaped(text) {
    return String(text).replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
  }

  // The blocks of a lane, with where they stand.
  function unpacked(text, lane) {
    let before = 0;
    if (text === '') return [];
    return text.split(';').map(packed => {
      const fields = packed.split(',').map(Number), start = before + fields[0], end = start + fields[1];
      before = end;
      return { lane, start, end, paint: fields[2], name: fields[3] || 0, count: fields[4] || 1,
               busy: fields[5] || fields[1], launch: fields[6] || 0 };
    });
  }

  function read(figure) {
    const data = JSON.parse(figure.dataset.step);
    data.lanes = data.lanes.map((lane, place) => ({ ...lane, blocks: unpacked(lane.blocks, place) }));
    data.calls = data.lanes.filter(lane => lane.calls).flatMap(lane => lane.blocks);
    return data;
  }

  // --- Where things stand ---

  function layout(state) {
    const width = state.plot.clientWidth, narrow = width < sizes.narrow;
    const left = narrow ? 0 : 132, rows = [];
    let top = sizes.axis, head = null;
    state.data.lanes.forEach(lane => {
      if (lane.head !== head) {
        rows.push({ head: lane.head, top });
        top += sizes.head;
        head = lane.head;
      }
      if (narrow && lane.name) top += 15;
      rows.push({ lane, top, label: narrow ? top - 4 : top + 14 });
      top += sizes.row;
    });
    return { width, left, rows, height: top + 4, tops: new Map(rows.filter(row => row.lane).map(row => [row.lane, row.top])) };
  }

  function x_of(state, time) {
    const { left, width } = state.layout;
    return left + (time - state.from) / (state.to - state.from) * (width - left - 2);
  }

  function time_at(state, x) {
    const { left, width } = state.layout;
    return state.from + (x - left) / (width - left - 2) * (state.to - state.from);
  }

  function place_of(state, block) {
    const half = state.data.paints[block.paint].half, whole = sizes.row - 2 * sizes.gap;
    const top = state.layout.tops.get(state.data.lanes[block.lane]) + sizes.gap;
    const from = Math.max(x_of(state, block.start), state.layout.left), to = Math.min(x_of(state, block.end), state.layout.width);
    return { x: from, y: top + (half === 2 ? whole / 2 : 0), width: Math.max(to - from, 0.7), height: half ? whole / 2 : whole };
  }

  // The first block of a lane that ends after a moment: those of a lane do not overlap but on a busy stream.
  function first_after(blocks, time) {
    let low = 0, high = blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (blocks[middle].end <= time) low = middle + 1; else high = middle;
    }
    return low;
  }

  // What is seen of a lane; of what falls into one pixel, the first.
  function seen(state, lane) {
    const blocks = lane.blocks, pixel = (state.to - state.from) / (state.layout.width - state.layout.left), shown = [];
    let last = -Infinity;
    for (let i = first_after(blocks, state.from); i < blocks.length && blocks[i].start < state.to; i++) {
      if (blocks[i].end - last < pixel && blocks[i] !== state.chosen) continue;
      shown.push(blocks[i]);
      last = blocks[i].end;
    }
    return shown;
  }

  // --- Drawing ---

  function axis(state) {
    const span = state.to - state.from, power = Math.pow(10, Math.floor(Math.log10(span / 4)));
    const step = [5, 2, 1].map(factor => factor * power).find(one => span / one >= 4) || power, zero = state.data.own[0];
    let svg = '';
    for (let n = Math.ceil((state.from - zero) / step); n * step + zero <= state.to; n++) {
      const x = x_of(state, n * step + zero).toFixed(1), anchor = x > state.layout.width - 30 ? 'end' : x < 25 ? 'start' : 'middle';
      svg += `<path class="a" d="M${x} ${sizes.axis - 7}V${state.layout.height}"/>` +
             `<text class="m" x="${x}" y="13" text-anchor="${anchor}">${escaped(n === 0 ? '0' : mprof_time_text(Number((n * step).toPrecision(9))))}</text>`;
    }
    state.data.own.filter(edge => edge >= state.from && edge <= state.to).forEach(edge => {
      svg += `<path class="e" d="M${x_of(state, edge).toFixed(1)} ${sizes.axis - 7}V${state.layout.height}"/>`;
    });
    return svg;
  }

  function rect(place, css) {
    return `<rect class="${css}" x="${place.x.toFixed(1)}" y="${place.y}" width="${place.width.toFixed(1)}" height="${place.height}"/>`;
  }

  function block_svg(state, block) {
    const place = place_of(state, block), name = state.data.names[block.name];
    let svg = rect(place, 'p' + block.paint);
    if (name && place.height > 10 && name.length * sizes.letter + 6 < place.width) {
      svg += `<text class="${state.data.paints[block.paint].words}" x="${(place.x + place.width / 2).toFixed(1)}" y="${place.y + 12}" ` +
             `text-anchor="middle">${escaped(name)}</text>`;
    }
    return svg;
  }

  function joint(state, block) {
    const call = state.data.calls[block.launch - 1], tops = state.layout.tops, lanes = state.data.lanes;
    const edge = x => Math.min(Math.max(x, state.layout.left), state.layout.width);
    return `<path class="j" d="M${edge(x_of(state, call.start)).toFixed(1)} ${tops.get(lanes[call.lane]) + sizes.row - sizes.gap}` +
           `L${edge(x_of(state, block.start)).toFixed(1)} ${tops.get(lanes[block.lane]) + sizes.gap}"/>`;
  }

  // Those of the chosen block, and all in sight where they are few.
  function joints(state, shown) {
    const launched = shown.filter(block => block.launch), chosen = state.chosen;
    const in_sight = launched.filter(block => state.data.calls[block.launch - 1].end >= state.from);
    const drawn = new Set(in_sight.length <= most_joints ? in_sight : []);
    if (chosen && chosen.launch) drawn.add(chosen);
    if (chosen) launched.filter(block => state.data.calls[block.launch - 1] === chosen).forEach(block => drawn.add(block));
    return [...drawn].map(block => joint(state, block)).join('');
  }

  function draw(state) {
    state.layout = layout(state);
    const { width, height, rows } = state.layout, shown = [];
    if (!(width > 0)) return;
    let svg = axis(state);
    rows.forEach(row => {
      if (row.head !== undefined) {
        svg += `<rect class="f" x="0" y="${row.top + 2}" width="${width}" height="${sizes.head - 4}"/>` +
               `<text x="4" y="${row.top + 15}" font-weight="600">${escaped(row.head)}</text>`;
        return;
      }
      svg += `<text class="m" x="4" y="${row.label}">${escaped(row.lane.name)}</text>`;
      seen(state, row.lane).forEach(block => {
        shown.push(block);
        svg += block_svg(state, block);
      });
    });
    svg += joints(state, shown);
    const found = new Set(state.matches);
    shown.filter(block => found.has(block)).forEach(block => { svg += rect(place_of(state, block), 'found'); });
    if (state.chosen && state.chosen.end > state.from && state.chosen.start < state.to)
      svg += rect(place_of(state, state.chosen), 'chosen-block');
    state.plot.innerHTML = `<svg class="step" width="${width}" height="${height}" aria-hidden="true">${svg}</svg>`;
    state.say_part();
  }

  // --- Words ---

  function since(state, time) {
    const after = time - state.data.own[0];
    return after < 0 ? `${mprof_time_text(-after)} before the step` : `at ${mprof_time_text(after)}`;
  }

  function words_of(state, block) {
    const { names, paints, lanes, calls } = state.data, lane = lanes[block.lane];
    const name = names[block.name] || (block.count > 1 ? 'several' : ''), kind = paints[block.paint].name;
    let text = (block.count > 1 ? `${block.count} × ` : '') + (name ? `${name} (${kind})` : kind);
    text += `, ${lane.head}${lane.name ? ', ' + lane.name : ''}: starts ${since(state, block.start)}, ` +
            (block.count > 1 ? `all within ${mprof_time_text(block.end - block.start)}, busy for ${mprof_time_text(block.busy)}`
                             : `takes ${mprof_time_text(block.end - block.start)}`) + '.';
    if (block.launch) {
      const call = calls[block.launch - 1];
      text += ` Launched ${since(state, call.start)}${names[call.name] ? ' by ' + names[call.name] : ''}.`;
    }
    return text;
  }

  // --- Moving ---

  function show(state, from, span) {
    const length = state.data.length;
    span = Math.min(Math.max(span, least_span), length);
    state.from = Math.min(Math.max(from, 0), length - span);
    state.to = state.from + span;
    draw(state);
  }

  function move(state, what) {
    const span = state.to - state.from, [first, last] = state.data.view;
    if (what === 'in') show(state, state.from + span / 4, span / 2);
    if (what === 'out') show(state, state.from - span / 2, span * 2);
    if (what === 'earlier') show(state, state.from - span / 2, span);
    if (what === 'later') show(state, state.from + span / 2, span);
    if (what === 'step') show(state, first, last - first);
    if (what === 'all') show(state, 0, state.data.length);
  }

  // Shows a block in the middle, unless it is in sight; one that is too narrow to be seen is zoomed to.
  function choose(state, block) {
    const length = block.end - block.start;
    let span = state.to - state.from;
    state.chosen = block;
    state.pointed.textContent = words_of(state, block);
    if (length * 400 < span) span = Math.max(length * 20, least_span);
    const hidden = block.start < state.from || block.end > state.to;
    if (hidden || span !== state.to - state.from)
      show(state, block.start + length / 2 - span / 2, Math.max(span, length * 1.2));
    else draw(state);
  }

  function block_at(state, event) {
    const box = state.plot.getBoundingClientRect(), y = event.clientY - box.top, x = event.clientX - box.left;
    const row = state.layout.rows.find(one => one.lane && y >= one.top && y < one.top + sizes.row);
    if (!row || x < state.layout.left) return null;
    const time = time_at(state, x), near = 3 * (state.to - state.from) / state.layout.width;
    const around = row.lane.blocks.slice(Math.max(first_after(row.lane.blocks, time - near) - 2, 0))
        .filter((block, place) => place < 6 && block.end >= time - near && block.start <= time + near);
    return around.find(block => block.start <= time && block.end >= time) || around[0] || null;
  }

  // --- Finding ---

  function find(state, text) {
    const wanted = text.trim().toLowerCase(), names = state.data.names.map(name => name.toLowerCase().includes(wanted));
    state.matches = wanted === '' ? [] : state.data.lanes.flatMap(lane => lane.blocks.filter(block => block.name && names[block.name]));
    state.matches.sort((a, b) => a.start - b.start);
    state.match = -1;
    draw(state);
  }

  function find_next(state, by) {
    const count = state.matches.length;
    if (count === 0) return;
    if (state.match < 0 && by > 0) state.match = state.matches.findIndex(block => block.start >= state.from) - 1;
    state.match = (state.match + by + count) % count;
    choose(state, state.matches[state.match]);
  }

  function neighbour(state, by) {
    const blocks = state.chosen ? state.data.lanes[state.chosen.lane].blocks : [];
    const next = state.chosen ? blocks[blocks.indexOf(state.chosen) + by]
                              : state.data.lanes.flatMap(lane => lane.blocks).find(block => block.start >= state.from);
    if (next) choose(state, next);
  }

  // --- What the reader does ---

  const keys = { ArrowLeft: 'earlier', ArrowRight: 'later', '+': 'in', '=': 'in', '-': 'out', 0: 'step' };

  function press(state, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (keys[event.key]) move(state, keys[event.key]);
    else if (event.key === '[' || event.key === ']') neighbour(state, event.key === '[' ? -1 : 1);
    else if (event.key === 'n' || event.key === 'N') find_next(state, event.key === 'n' ? 1 : -1);
    else return;
    event.preventDefault();
  }

  function start_pointer(state) {
    let dragged = null;
    state.plot.addEventListener('pointerdown', event => {
      dragged = { x: event.clientX, from: state.from, moved: false };
    });
    state.plot.addEventListener('pointermove', event => {
      if (dragged && event.buttons) {
        const by = event.clientX - dragged.x;
        if (Math.abs(by) > 3) {
          dragged.moved = true;
          show(state, dragged.from - by / (state.layout.width - state.layout.left) * (state.to - state.from), state.to - state.from);
        }
        return;
      }
      const block = block_at(state, event);
      state.pointed.setAttribute('aria-live', 'off');  // what a pointer passes by is not read out
      if (block) state.pointed.textContent = words_of(state, block);
    });
    state.plot.addEventListener('click', event => {
      const moved = dragged && dragged.moved, block = block_at(state, event);
      dragged = null;
      state.pointed.setAttribute('aria-live', 'polite');
      if (moved || !block) return;
      state.chosen = block;
      state.pointed.textContent = words_of(state, block);
      draw(state);
    });
    state.plot.addEventListener('wheel', event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const at = time_at(state, event.clientX - state.plot.getBoundingClientRect().left), factor = event.deltaY < 0 ? 0.8 : 1.25;
      show(state, at - (at - state.from) * factor, (state.to - state.from) * factor);
    }, { passive: false });
  }

  function start(figure) {
    const data = read(figure), output = figure.querySelector('output'), search = figure.querySelector('input');
    const state = { data, plot: figure.querySelector('.live'), pointed: figure.querySelector('.pointed'), from: data.view[0],
                    to: data.view[1], chosen: null, matches: [], match: -1, layout: null };
    state.say_part = () => {
      const found = search.value.trim() === '' ? '' : state.matches.length === 0 ? ' Nothing found.' :
          ` ${state.match < 0 ? '' : `${state.match + 1} of `}${state.matches.length} found.`;
      const begin = state.from - data.own[0];
      output.textContent = `${begin < 0 ? '−' : ''}${mprof_time_text(Math.abs(begin))} to ` +
                           `${mprof_time_text(state.to - data.own[0])}.${found}`;
    };
    figure.classList.add('drawn');
    [figure.querySelector('.controls'), state.plot, state.pointed].forEach(part => { part.hidden = false; });
    figure.querySelectorAll('[data-step-zoom]').forEach(button => {
      button.addEventListener('click', () => move(state, button.dataset.stepZoom));
    });
    figure.querySelectorAll('[data-step-find]').forEach(button => {
      button.addEventListener('click', () => find_next(state, Number(button.dataset.stepFind)));
    });
    search.addEventListener('input', () => find(state, search.value));
    search.addEventListener('keydown', event => {
      if (event.key === 'Enter') find_next(state, event.shiftKey ? -1 : 1);
    });
    state.plot.addEventListener('keydown', event => press(state, event));
    start_pointer(state);
    new ResizeObserver(() => {
      if (!state.layout || state.layout.width !== state.plot.clientWidth) draw(state);
    }).observe(state.plot);
    draw(state);
  }

  document.querySelectorAll('figure[data-step]').forEach(start);
})();
