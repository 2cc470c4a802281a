// SPDX-License-Identifier: MIT
// What a reader can do with the milestone report: its tables, the switch above the charts, the timeline.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  browser, charts, column, desk, eventually, folder,
  frames, overflow, phone, said, serious_findings, unfold, whole, with_page as open_page,
} from './browser.mjs';

/// All of it is unfolded, but for an address, which unfolds what it leads to.
const with_page = (name, options, use) => open_page(name, { unfolded: !options.hash, ...options }, use);

describe('tables', () => {
  test('sort by what a figure is, not by how it is written', () =>
    with_page(whole, {}, async page => {
      const figure = page.locator('[data-problem] figure').nth(1);  // the speed-ups
      const before = await column(figure, 0);
      const head = figure.locator('th').filter({ hasText: 'Speed-up 1' }), button = head.getByRole('button');
      await button.click();
      assert.equal(await head.getAttribute('aria-sort'), 'ascending');
      assert.equal(await said(page), 'Sorted by Speed-up 1, smallest first');
      const number = text => text === 'baseline' ? 1 : Number.parseFloat(text.replaceAll(',', ''));
      const up = (await column(figure, 2)).map(number);
      assert.ok(up.filter(value => value < 1).length > 0 && up.filter(value => value > 1).length > 0);
      assert.deepEqual(up, [...up].sort((a, b) => a - b), 'a baseline is as fast as itself');
      await button.click();
      assert.equal(await head.getAttribute('aria-sort'), 'descending');
      assert.deepEqual((await column(figure, 2)).map(number), [...up].reverse());
      await button.click();
      assert.equal(await head.getAttribute('aria-sort'), null);
      assert.deepEqual(await column(figure, 0), before, 'the third time as it was');
    }));

  test('thousands are larger than units, and what is missing is last both ways', () =>
    with_page('run_a/milestone.html', {}, async page => {
      await page.evaluate(() => {
        const figure = document.querySelector('figure.table:has(td[data-value])');
        const place = [...figure.querySelector('tbody tr').cells].findIndex(cell => cell.dataset.value !== undefined);
        figure.id = 'sorted';
        [...figure.querySelectorAll('tbody tr')].slice(0, 4).forEach((row, i) => {
          const cell = row.cells[place];
          cell.firstElementChild.textContent = ['1,200', '–', '9.5', '80'][i];
          if (i === 1) cell.removeAttribute('data-value'); else cell.dataset.value = ['1.2', '', '0.0095', '0.08'][i];
        });
        [...figure.querySelectorAll('tbody tr')].slice(4).forEach(row => row.remove());
        figure.querySelectorAll('th')[place].id = 'head';
      });
      // The page took its rows when it was loaded; what was removed comes back at the end of what was kept.
      const texts = () => page.locator('#sorted tbody tr').evaluateAll(rows => rows.map(row => row.cells[
        [...document.querySelectorAll('#sorted th')].indexOf(document.getElementById('head'))].firstElementChild.textContent)
          .filter(text => ['1,200', '–', '9.5', '80'].includes(text)));
      await page.locator('#head .sort').click();
      assert.deepEqual(await texts(), ['9.5', '80', '1,200', '–']);
      await page.locator('#head .sort').click();
      assert.deepEqual(await texts(), ['1,200', '80', '9.5', '–']);
    }));

  test('words sort as people read them, and names that repeat the one above are marked anew', () =>
    with_page(whole, {}, async page => {
      const figure = page.locator('figure.table').filter({ hasText: 'Outputs against the double-precision' });
      await figure.getByRole('button', { name: 'Variant' }).click();
      const names = await column(figure, 0);
      assert.deepEqual(names, [...names].sort(new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare));
      const quiet = await figure.locator('tbody tr').evaluateAll(rows => rows.map(row => row.cells[0].classList.contains('repeat')));
      assert.deepEqual(quiet, names.map((name, i) => i > 0 && name === names[i - 1]));
      await figure.getByRole('button', { name: 'Op', exact: true }).click();
      assert.ok(!await figure.locator('tbody tr').nth(1).locator('td').first().evaluate(cell => cell.classList.contains('repeat')));
    }));

  // Three dimensions of a grid are no number, and variant_view.cpp leaves its columns to the order of their texts.
  for (const name of ['run_a', 'h200', 'troubled', 'gpu', 'large', 'whole']) {
    test(`${name}: every figure says what number it is`, () =>
      with_page(`${name}/milestone.html`, {}, async page => {
        const mute = await page.evaluate(() => [...document.querySelectorAll('figure.table td.number:not(.absent)')]
            .filter(cell => /\d/.test(cell.firstElementChild.textContent) && !/\d\s+\d/.test(cell.firstElementChild.textContent) && !Number.isFinite(Number(cell.dataset.value ?? NaN)))
            .map(cell => `${cell.closest('figure').id}: ${cell.textContent}`));
        assert.deepEqual(mute, []);
        const spoken = await page.evaluate(() => [...document.querySelectorAll('td.absent[data-value]')].length);
        assert.equal(spoken, 0, 'what is missing has no value');
      }));
  }

  test('filter by all words typed; Escape shows all rows again', () =>
    with_page(whole, {}, async page => {
      const figure = page.locator('figure.table').filter({ hasText: 'Outputs against the double-precision' });
      const filter = figure.getByRole('searchbox'), count = figure.locator('output');
      const all = await figure.locator('tbody tr').count();
      await filter.fill('LAYER1  matmul');
      const shown = await figure.locator('tbody tr:visible').allTextContents();
      assert.ok(shown.length > 0 && shown.length < all);
      for (const row of shown) assert.match(row, /matmul.*layer1/);
      assert.equal(await count.textContent(), `${shown.length} of ${all} rows`);
      await figure.getByRole('button', { name: 'Op', exact: true }).click();
      assert.equal(await figure.locator('tbody tr:visible').count(), shown.length, 'sorting keeps the filter');
      await filter.fill('no such row');
      assert.equal(await count.textContent(), `0 of ${all} rows`);
      await filter.press('Escape');
      assert.equal(await filter.inputValue(), '');
      assert.equal(await count.textContent(), '');
      assert.equal(await figure.locator('tbody tr:visible').count(), all);
      const few = page.locator('figure.table').filter({ has: page.locator('tbody tr:nth-child(8):last-child') });
      for (const table of await few.all()) assert.equal(await table.getByRole('searchbox').count(), 0, 'few rows need none');
    }));

  const copied = async (page, figure) => {
    await figure.getByRole('button', { name: 'Copy as Markdown' }).click();
    await figure.getByRole('button', { name: 'Copied' }).waitFor();
    assert.match(await said(page), /^Copied as Markdown: /);
    return page.evaluate(() => navigator.clipboard.readText());
  };

  test('copy what stands there: order, filter, units, small print and footnotes', () =>
    with_page(whole, { permissions: ['clipboard-read', 'clipboard-write'] }, async page => {
      const figure = page.locator('[data-problem] figure').first();
      const whole = (await copied(page, figure)).split('\n');
      const rows = await figure.locator('tbody tr').count();
      assert.match(whole[0], /^\*\*Times at batch size \d+\*\*$/);
      assert.match(whole[2], /^\| Variant \| Op Time 1 \((ms|µs|s)\) \| /);
      assert.match(whole[3], /^\| --- \| ---: \| /);
      assert.equal(whole.slice(4).filter(line => line.startsWith('|')).length, rows);
      for (const line of whole.slice(2, 4 + rows)) assert.equal(line.split(' | ').length, whole[2].split(' | ').length, line);
      assert.ok(whole.some(line => /\| \*\*[\d.,]+\*\* ±[\d.]+ % \|/.test(line)), 'the best one is bold, its interval small print');
      const notes = await figure.locator('.notes li').count();
      assert.equal(whole.filter(line => /^- <sup>\w<\/sup> /.test(line)).length, notes);
      assert.ok(!whole.join('').match(/[\u2007\u2008]/), 'no spaces for alignment');

      await figure.getByRole('button', { name: 'Copy as Markdown' }).waitFor();  // it says again what it does
      await figure.getByRole('searchbox').fill('matmul');
      await figure.getByRole('button', { name: 'Total Execution Time' }).click();
      const part = (await copied(page, figure)).split('\n');
      const names = part.slice(4).filter(line => line.startsWith('|')).map(line => line.split(' | ')[0].slice(2));
      assert.deepEqual(names, await column(figure, 0));
      assert.match(part[0], new RegExp(`\\(${names.length} of ${rows} rows, with "matmul"\\)\\*\\*$`));
      const marks = new Set(part.join('\n').match(/(?<=[^-] ?)<sup>\w+<\/sup>(?= \|)/g) ?? []);
      assert.equal(part.filter(line => line.startsWith('- <sup>')).length, marks.size, 'footnotes of rows that are not there go');
    }));

  test('copy without the clipboard interface, and hostile names as text', () =>
    with_page('hostile/milestone.html', { permissions: ['clipboard-read', 'clipboard-write'] }, async page => {
      const figure = page.locator('[data-problem] figure').first();
      const modern = await copied(page, figure);
      await page.evaluate(() => {
        const clipboard = navigator.clipboard;
        clipboard.writeText('').then(() => Object.defineProperty(navigator, 'clipboard', { get: () => undefined, configurable: true }));
        window.given_back = () => Object.defineProperty(navigator, 'clipboard', { get: () => clipboard });
      });
      await page.waitForFunction(() => navigator.clipboard === undefined);
      await figure.getByRole('button', { name: 'Copy as Markdown' }).click();
      await figure.getByRole('button', { name: 'Copied' }).waitFor();
      await page.evaluate(() => window.given_back());
      const by_hand = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(by_hand.replaceAll('\r\n', '\n'), modern);
      assert.doesNotMatch(modern.replaceAll(/<\/?sup>/g, ''), /(^|[^\\])</, 'no tag of theirs');
      const bars = modern.split('\n').filter(line => line.startsWith('| ')).map(line => line.match(/(?<!\\)\|/g).length);
      assert.equal(new Set(bars).size, 1, 'no cell of theirs');
    }));

  test('obey the keyboard alone', () =>
    with_page(whole, {}, async page => {
      const figure = page.locator('[data-problem] figure').first();
      const tools = figure.locator('.tools'), opacity = () => tools.evaluate(element => Number(getComputedStyle(element).opacity));
      await page.mouse.move(0, 0);
      await figure.locator('.sort').first().focus();
      await eventually(async () => assert.equal(await opacity(), 1, 'controls come into sight with the focus'));
      const outline = await figure.locator('.sort').first().evaluate(element => getComputedStyle(element).outlineStyle);
      assert.notEqual(outline, 'none');
      const head = figure.locator('th').nth(1);
      await page.keyboard.press('Tab');
      assert.ok(await head.locator('.sort').evaluate(element => element === document.activeElement));
      await page.keyboard.press('Enter');
      assert.equal(await head.getAttribute('aria-sort'), 'ascending');
      await page.keyboard.press('Space');
      assert.equal(await head.getAttribute('aria-sort'), 'descending');
      await figure.getByRole('searchbox').focus();
      await page.keyboard.type('cudnn');
      assert.equal(await figure.locator('tbody tr:visible').count(), 1);
      await page.keyboard.press('Tab');
      assert.match(await page.evaluate(() => document.activeElement.textContent), /Copy as Markdown/);
    }));

  test('keep their heads in sight where they fit', () =>
    with_page('large/milestone.html', { viewport: { width: 1700, height: 700 } }, async page => {
      const figure = page.locator('figure.table:has(.fits)').filter({ has: page.locator('tbody tr:nth-child(15)') }).first();
      await figure.locator('tbody tr').last().evaluate(row => row.scrollIntoView({ block: 'end' }));
      const tops = await figure.evaluate(element => [element.getBoundingClientRect().top, element.querySelector('th').getBoundingClientRect().top]);
      if (tops[0] < -60) assert.ok(tops[1] >= -1 && tops[1] < 5, `the head stands at ${tops[1]}`);
    }));
});

describe('switch', () => {
  const shown_charts = page => page.locator('section[data-family] figure.chart').evaluateAll(figures =>
    figures.filter(figure => !figure.hidden).map(figure => figure.id));
  const legend = page => page.locator('section[data-charts] figure.chart:visible').first().locator('svg text').allTextContents();

  test('a batch drives the charts and the summary, a layer all charts', () =>
    with_page(whole, { drawn: true }, async page => {
      const bar = page.locator('.switch'), every = await shown_charts(page);
      const batches = await bar.getByRole('group', { name: 'Batch' }).getByRole('radio').count() - 1;
      const tables = page.locator('[data-problem]');
      assert.equal(await tables.count(), batches);
      const summary = page.locator('[data-problem]:visible');
      assert.equal(await summary.count(), batches);
      const marks = async () => (await legend(page)).filter(text => text.startsWith('batch '));
      assert.equal((await marks()).length, batches);
      const colour = () => page.locator('section[data-charts] svg').first().evaluate(svg =>
        [...svg.querySelectorAll('path[fill]')].map(path => path.getAttribute('fill')).filter(fill => !['none', 'transparent'].includes(fill)));

      const chosen = await tables.first().getAttribute('data-problem');
      const all_colours = new Set(await colour());
      await bar.getByRole('radio', { name: chosen, exact: true }).check();
      assert.deepEqual(await marks(), [`batch ${chosen}`]);
      for (const fill of await colour()) assert.ok(all_colours.has(fill), 'a batch keeps its colour');
      assert.equal(await summary.count(), 1);
      assert.match(await summary.first().locator('figcaption').first().textContent(), new RegExp(`${chosen}$`));
      assert.match(await said(page), new RegExp(`^batch ${chosen}: `));

      await bar.getByRole('radio', { name: 'all' }).first().check();
      assert.deepEqual(await shown_charts(page), every);
      await bar.getByRole('radio', { name: 'layer2' }).check();
      const layer2 = await shown_charts(page);
      assert.ok(layer2.length > 0 && layer2.length < every.length);
      assert.ok(layer2.some(id => /roofline|sol|stalls/.test(id)), 'also what hardware counted');
      const ops = await page.evaluate(() => JSON.parse(document.getElementById('chart-data').textContent).map(view => [view.id, view.op]));
      // Of what the switch governs: the timeline, for one, is about all layers.
      const governed = ops.filter(([id]) => every.includes(id));
      for (const [id, op] of governed) assert.equal(layer2.includes(id), op === 'layer2', id);
      await bar.getByRole('radio', { name: 'whole inference' }).check();
      for (const [id, op] of governed) assert.equal((await shown_charts(page)).includes(id), op === '', id);

      const note = page.locator('.hidden-parts:visible').last();
      assert.match(await note.textContent(), /^\d+ charts? hidden by the choice of batch and layer/);
      await note.getByRole('button').click();
      assert.deepEqual(await shown_charts(page), every, 'the line where charts are missing leads back');
      assert.equal(await page.locator('.hidden-parts:visible').count(), 0);
      assert.ok(await bar.getByRole('radio', { name: 'all' }).nth(1).isChecked());
    }));

  test('is of native radios, so the keyboard moves the choice', () =>
    with_page(whole, { drawn: true }, async page => {
      const radios = page.locator('.switch').getByRole('group', { name: 'Layer' }).getByRole('radio');
      await radios.first().focus();
      await page.keyboard.press('ArrowRight');
      assert.ok(await radios.nth(1).isChecked());
      const outline = await radios.nth(1).evaluate(input => getComputedStyle(input.nextElementSibling).outlineStyle);
      assert.notEqual(outline, 'none', 'the focus is to be seen');
      assert.deepEqual(await serious_findings(page), []);
    }));

  test('stays in sight along the charts, and moves nothing that is looked at', () =>
    with_page(whole, {}, async page => {
      const bar = page.locator('.switch');
      await page.locator('section[data-charts] figure.chart').nth(2).evaluate(figure => figure.scrollIntoView());
      const top = () => bar.evaluate(element => element.getBoundingClientRect().top);
      assert.ok(Math.abs(await top()) < 2, 'it sticks');
      await bar.getByRole('radio', { name: 'layer2' }).check();
      await eventually(async () =>
        assert.ok(await top() >= -1 && await top() < 150, 'the first charts of the choice stand below it'));
      await page.locator('.switch').evaluate(element => window.scrollBy(0, element.closest('section').getBoundingClientRect().top - 40));
      const before = await top();
      await bar.getByRole('radio', { name: '100', exact: true }).check();
      await frames(page);
      assert.ok(Math.abs(await top() - before) < 2, 'summaries above may go without moving the page');
    }));

  test('its choice is an address, which others can open', async () => {
    let hash;
    await with_page(whole, {}, async page => {
      await page.locator('.switch').getByRole('radio', { name: '100', exact: true }).check();
      await page.locator('.switch').getByRole('radio', { name: 'layer1' }).check();
      hash = await page.evaluate(() => location.hash);
    });
    await with_page(whole, { hash }, async page => {
      assert.ok(await page.locator('.switch').getByRole('radio', { name: '100', exact: true }).isChecked());
      assert.ok(await page.locator('.switch').getByRole('radio', { name: 'layer1' }).isChecked());
      const top = await page.locator('section[data-charts]').evaluate(section => section.getBoundingClientRect().top);
      assert.ok(Math.abs(top) < 60, `the charts stand at ${top}`);
    });
    for (const odd of ['#conv-charts:', '#conv-charts:problem=7,op=<b>', '#nowhere:problem=100', '#%E0%A4%A', '#:']) {
      await with_page('gpu/milestone.html', { hash: odd }, async page => {
        assert.ok(await page.locator('section[data-family] figure.chart').count() > 0);
        assert.equal(await page.locator('section[data-family] figure.chart[hidden]').count(), 0, odd);
      });
    }
  });
});

describe('two families', () => {
  const name = 'two_families/milestone.html';
  // Each family with what its own words call its problems, its ops and the whole.
  const families = {
    conv: { problem: 'Batch', problems: ['1000', '10000'], text: 'batch 1000', op: 'Layer', ops: ['layer1', 'layer2', 'whole inference'],
            choice: 'choice of batch and layer', all: 'All batches and layers' },
    elementwise: { problem: 'Size', problems: ['1024', '8192'], text: 'size 1024', op: 'Op', ops: ['map', 'whole map'],
                   choice: 'choice of size and op', all: 'All sizes and ops' }
  };
  const pairs = [['conv', 'elementwise'], ['elementwise', 'conv']];
  const section = (page, family) => page.locator(`section[data-charts="${family}"]`);
  const group = (page, family, what) => section(page, family).getByRole('group', { name: families[family][what], exact: true });
  const pick = (page, family, what, value) => group(page, family, what).getByRole('radio', { name: value, exact: true }).check();
  const labels = (page, family, what) => group(page, family, what).locator('label').allTextContents();

  /// What is in sight of a family: its charts with the texts in them, its summaries, and what its switch says.
  const sight = (page, family) => page.evaluate(family => {
    const parts = [...document.querySelectorAll(`[data-family="${family}"]`)];
    const shown = selector => parts.flatMap(part => [...part.querySelectorAll(selector)]).filter(part => part.checkVisibility());
    return {
      charts: shown('figure.chart').map(figure => figure.id),
      texts: shown('figure.chart').map(figure => [...figure.querySelectorAll('svg text')].map(text => text.textContent)),
      summaries: shown('[data-problem]').map(part => part.dataset.problem),
      checked: shown('.switch input:checked').map(input => input.value),
      notes: shown('.hidden-parts').map(line => line.textContent)
    };
  }, family);

  test('each have a switch in their own words', () =>
    with_page(name, { drawn: true }, async page => {
      assert.equal(await page.locator('.switch').count(), 2);
      for (const [family, words] of Object.entries(families)) {
        assert.deepEqual(await labels(page, family, 'problem'), ['all', ...words.problems]);
        assert.deepEqual(await labels(page, family, 'op'), ['all', ...words.ops]);
        assert.equal(await section(page, family).locator('legend').count(), 2, 'and no other');
        const bar = section(page, family).getByRole('form', { name: `Which charts of ${family} to show`, exact: true });
        assert.equal(await bar.count(), 1);
      }
      const [conv, elementwise] = [await section(page, 'conv').innerText(), await section(page, 'elementwise').innerText()];
      assert.match(conv, /\bbatch\b/);
      assert.doesNotMatch(elementwise, /\b(batch(es)?|layers?|images?|inference)\b/i);
      assert.doesNotMatch(conv, /\b(size|map|iterations)\b/i);
    }));

  for (const [family, other] of pairs) {
    const words = families[family];
    test(`the switch of ${family} leaves ${other} alone`, () =>
      with_page(name, { drawn: true }, async page => {
        const before = await sight(page, family), others = await sight(page, other);
        const kept = async why => assert.deepEqual(await sight(page, other), others, why);
        assert.equal(before.summaries.length, 2);

        await pick(page, family, 'problem', words.problems[0]);
        const at_one = await sight(page, family);
        assert.equal(at_one.summaries.length, 1);
        assert.equal(before.summaries.indexOf(at_one.summaries[0]), 1, 'the smaller problem is the second table');
        assert.ok(at_one.texts.flat().includes(words.text));
        assert.ok(!at_one.texts.flat().includes(words.text.replace(...words.problems)));
        assert.ok(at_one.charts.length > 0 && at_one.charts.length < before.charts.length, 'throughput is of the largest only');
        assert.ok(at_one.notes.length > 0);
        for (const note of at_one.notes) assert.match(note, new RegExp(`^\\d+ (chart|table)s? hidden by the ${words.choice}\\. `));
        assert.match(await said(page), new RegExp(`^${words.text}: ${at_one.charts.length} of ${before.charts.length} charts$`));
        await kept('after a problem was chosen');

        await pick(page, family, 'problem', 'all');
        await pick(page, family, 'op', words.ops.at(-1));
        const whole = await sight(page, family);
        assert.deepEqual(whole.charts, [`${family}-total-time`, `${family}-total-speed-up`]);
        assert.deepEqual(whole.summaries, before.summaries);
        assert.match(await said(page), new RegExp(`^${words.ops.at(-1)}: 2 of `));
        await kept('after an op was chosen');

        await section(page, family).locator('.hidden-parts:visible').getByRole('button').click();
        assert.deepEqual(await sight(page, family), before);
        assert.match(await said(page), new RegExp(`^${words.all}: `));
        await kept('after all was shown again');
      }));

    test(`an address chooses in ${family}, and ${other} shows all`, async () => {
      let hash, chosen;
      await with_page(name, { drawn: true }, async page => {
        await pick(page, family, 'problem', words.problems[0]);
        await pick(page, family, 'op', words.ops[0]);
        hash = await page.evaluate(() => location.hash);
        chosen = await sight(page, family);
      });
      await with_page(name, { hash }, async page => {
        const top = await section(page, family).evaluate(element => element.getBoundingClientRect().top);
        assert.ok(Math.abs(top) < 60, `the charts stand at ${top}`);
        assert.ok(await section(page, family).locator('figure.chart:visible').count() > 0, 'and are unfolded');
        assert.equal(await section(page, other).locator('figure.chart:visible').count(), 0);
        await unfold(page);
        await page.evaluate(() => window.mprof_draw_all());
        assert.deepEqual(await sight(page, family), chosen);
        assert.ok(chosen.charts.length > 0);
        assert.deepEqual((await sight(page, other)).checked, ['', '']);
        assert.deepEqual((await sight(page, other)).notes, []);
      });
      // A problem of one family is none of the other.
      await with_page(name, { hash: hash.replace(`#${family}-`, `#${other}-`).replace(/,op=.*/, '') }, async page => {
        await unfold(page);
        for (const each of [family, other]) assert.deepEqual((await sight(page, each)).checked, ['', '']);
      });
    });

    test(`a link to what the switch of ${family} hides leaves the choice in ${other}`, () =>
      with_page(name, { drawn: true }, async page => {
        await pick(page, family, 'op', words.ops.at(-1));
        await pick(page, other, 'op', families[other].ops.at(-1));
        const others = await sight(page, other);
        await page.evaluate(id => { location.hash = id; }, `${family}-op-time-1`);
        await page.locator(`#${family}-op-time-1`).waitFor();
        assert.deepEqual(await sight(page, other), others);
      }));
  }

  test('stand on paper with the choice in each', () =>
    with_page(name, {}, async page => {
      await pick(page, 'conv', 'op', 'layer2');
      await pick(page, 'elementwise', 'problem', '8192');
      await page.emulateMedia({ media: 'print' });
      assert.deepEqual(await page.locator('.chosen').allInnerTexts(), ['Shown here: layer2.', 'Shown here: size 8192.']);
    }));
});

describe('flame graph', () => {
  const figure = page => page.locator('figure.chart', { has: page.locator('[data-chart*="launches"]') });
  const labels = async page => (await figure(page).locator('svg text').allTextContents()).sort();
  const with_flame = use => with_page('program/milestone.html', {}, async page => {
    await figure(page).scrollIntoViewIfNeeded();
    await figure(page).locator('svg').waitFor();
    await use(page);
  });

  test('goes to a frame by keys, makes it as wide as the chart, and shows all again', () => with_flame(async page => {
    const before = await labels(page), said = figure(page).locator('output');
    assert.ok(before.some(text => text.includes('Backward')), `${before}`);
    await figure(page).locator('[data-chart]').focus();
    await page.keyboard.press('ArrowRight');
    const first = await said.textContent();
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await said.textContent(), first, 'the next frame at the same depth');
    assert.match(await said.textContent(), /of GPU time a step, \d/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await frames(page);
    assert.notDeepEqual(await labels(page), before, 'what lies in it has room now');
    await page.keyboard.press('Escape');
    await frames(page);
    assert.deepEqual(await labels(page), before);
    assert.equal(await said.textContent(), 'All is shown.');
  }));

  test('takes a click for a choice', () => with_flame(async page => {
    const before = await labels(page);
    await figure(page).locator('svg').click({ position: { x: 40, y: 18 } });
    await frames(page);
    assert.notDeepEqual(await labels(page), before);
  }));
});

describe('timeline', () => {
  const figure = page => page.locator('figure.timeline');
  // Charts are drawn when they come near the window.
  const with_timeline = (name, options, use) => with_page(name, options, async page => {
    await figure(page).scrollIntoViewIfNeeded();
    await figure(page).locator('svg').waitFor();
    await use(page);
  });
  const texts = page => page.evaluate(() => [...document.querySelectorAll('figure.timeline svg text')]
      .map(text => text.textContent));
  const fills = page => page.evaluate(() => new Set([...document.querySelectorAll('figure.timeline svg path')]
      .map(path => path.getAttribute('fill'))).size);
  const shown = page => figure(page).locator('output').textContent();

  for (const [size, viewport] of Object.entries({ phone, desk })) {
    test(`fits a ${size}`, () => with_timeline('gpu/milestone.html', { viewport }, async page => {
      const box = await figure(page).locator('svg').boundingBox();
      assert.ok(box.width > 0 && box.width <= viewport.width, `it is ${box.width} wide`);
      const drawn = (await texts(page)).map(text => text.replace(/\u00a0/g, ' '));
      for (const row of ['Ops', 'API calls', 'stream 7', 'stream 8', 'stream 9', 'Overlap']) {
        assert.equal(drawn.filter(text => text === row).length, 2, `${row} of both cases`);
      }
      assert.ok(drawn.some(text => /^conv\/streams, batch 10000: +overlap 12.5 %/.test(text)), drawn.join('|'));
      assert.ok(await fills(page) > 6, 'kinds differ in colour');
    }));
  }

  test('lies below its baseline, until the reader chooses others', () =>
    with_timeline('gpu/milestone.html', {}, async page => {
      const heads = async () => (await texts(page)).filter(text => / batch /.test(text)).map(text => text.split(',')[0]);
      const plot = figure(page).locator('.plot');
      assert.deepEqual(await heads(), ['conv/streams', 'conv/baseline']);
      const tall = (await plot.boundingBox()).height;
      await page.getByLabel('against', { exact: true }).selectOption('');
      assert.deepEqual(await heads(), ['conv/streams']);
      assert.ok((await plot.boundingBox()).height < tall, 'one case needs less room');
      await page.getByLabel('Show', { exact: true }).selectOption({ label: 'conv/baseline, batch 10000' });
      assert.deepEqual(await heads(), ['conv/baseline']);
      assert.match(await plot.getAttribute('aria-label'), /^Timeline of conv\/baseline, batch 10000: 6 kernels/);
      assert.doesNotMatch(await plot.getAttribute('aria-label'), /conv\/streams/);
    }));

  test('is zoomed with the keyboard alone', () =>
    with_timeline('gpu/milestone.html', {}, async page => {
      const press = async name => {
        await figure(page).getByRole('button', { name, exact: true }).focus();
        await page.keyboard.press('Enter');
      };
      const shows = (span, why) =>
        eventually(async () => assert.equal((await shown(page)).replace(/\u00a0/g, ' '), span, why));
      await shows('All is shown.');
      await press('Zoom in');
      await shows('2.500 µs to 7.500 µs');
      await press('Later');
      await shows('5 µs to 10 µs');
      await eventually(async () =>
        assert.ok((await texts(page)).includes('layer2'), 'names stand in what is large enough now'));
      await press('Earlier');
      await press('Zoom in');
      await shows('3.750 µs to 6.250 µs');
      await page.getByRole('button', { name: 'Dark theme' }).click();
      await shows('3.750 µs to 6.250 µs', 'a new theme is no reason to start again');
      await page.setViewportSize(phone);
      await eventually(async () => assert.ok((await figure(page).locator('.plot').boundingBox()).width <= phone.width));
      await shows('3.750 µs to 6.250 µs');
      await press('Zoom out');
      await shows('2.500 µs to 7.500 µs');
      await press('All');
      await shows('All is shown.');
    }));

  test('says of a block what it was', () =>
    with_timeline('gpu/milestone.html', {}, async page => {
      const copies = figure(page).locator('svg path[fill="#f2a65a"]');
      await copies.first().hover({ force: true });  // the last one is the legend's
      const tip = async () => (await figure(page).locator('.plot').innerText()).replace(/\u00a0/g, ' ');
      await eventually(async () => assert.match(await tip(), /stream 7\s+Host-to-Device copy \(Pinned to Device\)\s+starts at 420 ns\s+takes 400 ns\s+4\.096 kB, 10\.24 GB\/s/));
    }));

  test('leaves the wheel to the page, but with Ctrl', () =>
    with_timeline('gpu/milestone.html', {}, async page => {
      await figure(page).locator('.plot').scrollIntoViewIfNeeded();
      const box = await figure(page).locator('.plot').boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      const before = await page.evaluate(() => window.scrollY);
      await page.mouse.wheel(0, -150);
      await eventually(async () => assert.notEqual(await page.evaluate(() => window.scrollY), before));
      assert.equal(await shown(page), 'All is shown.');
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -150);
      await page.keyboard.up('Control');
      await eventually(async () => {
        const ends = (await shown(page)).match(/[\d.]+/g).map(Number);
        assert.ok(ends[0] > 0 && ends[1] < 10, ends.join(' to '));
      });
    }));

  for (const [name, colorScheme, viewport] of [['gpu', 'light', desk], ['gpu', 'dark', phone], ['hostile', 'light', phone]]) {
    test(`${name} stays accessible in ${colorScheme} while it is used`, () =>
      with_timeline(`${name}/milestone.html`, { colorScheme, viewport }, async page => {
        await page.getByLabel('against', { exact: true }).selectOption('');
        await figure(page).getByRole('button', { name: 'Zoom in' }).click();
        assert.ok(await overflow(page) <= 0);
        assert.deepEqual(await serious_findings(page), []);
      }));
  }

  test('is left out, with the reason, where nothing was traced', () =>
    with_page('run_a/milestone.html', {}, async page => {
      assert.equal(await figure(page).count(), 0);
      assert.match(await page.locator('section.timeline').innerText(), /No case was traced/);
    }));

  test('needs scripts, and says so', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(folder, 'gpu/milestone.html')).href);
    await page.locator('summary', { has: page.locator('#timeline') }).click();
    assert.match(await figure(page).locator('noscript').innerText(), /The table holds the figures/);
    assert.equal(await figure(page).locator('select').first().isVisible(), false);
    await context.close();
  });
});
