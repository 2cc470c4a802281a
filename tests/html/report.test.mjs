// The pages in a real browser. Run by CTest with RENDER_RUN, the program that makes them; exits with 77 where there is no
// Chromium. CHROMIUM names one that is not on the PATH.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const source = fileURLToPath(new URL('../..', import.meta.url));

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

function find_chromium() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = process.env.CHROMIUM ? [process.env.CHROMIUM]
                                          : folders.flatMap(f => [join(f, 'chromium'), join(f, 'chromium-browser')]);
  return candidates.find(file => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

async function load_development_module(name) {
  try {
    return await import(name);
  } catch {
    return skip(`the Node.js module ${name} is not installed: run npm ci`);
  }
}

const executablePath = find_chromium() ?? skip('Chromium was not found: install it, or let CHROMIUM name it');
const renderer = process.env.RENDER_RUN ?? skip('RENDER_RUN does not name the program that makes the pages');
const { chromium } = await load_development_module('playwright-core');
await load_development_module('axe-core');
const axe = readFileSync(join(source, 'node_modules/axe-core/axe.min.js'), 'utf8');

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
               '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const phone = { width: 400, height: 800 }, desk = { width: 1400, height: 900 };

let browser, folder;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mprof-html-'));
  execFileSync(renderer, [folder, join(source, 'tests/golden/run_a'), join(source, 'tests/golden/run_b'),
                         join(source, 'tests/golden/h200'), join(source, 'results/h200-2026-11-21')]);
  browser = await chromium.launch({ executablePath, args: flags });
});

after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/// Resolves when the page has been laid out and painted after all that was done to it so far.
const frames = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));

/// Resolves when `check` no longer throws; what it threw last, when a minute was in vain.
async function eventually(check) {
  for (const end = Date.now() + 60_000;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  }
}

/// Opens a page with all its charts drawn and passes it to `use`, then expects that it asked for nothing and complained of
/// nothing.
async function with_page(name, { viewport = desk, colorScheme = 'light', hash = '', lazily = false, ...more }, use) {
  const context = await browser.newContext({ viewport, colorScheme, ...more });
  try {
    const page = await context.newPage();
    const url = pathToFileURL(join(folder, name)).href;
    const complaints = [], requests = [];
    page.on('console', message => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', error => complaints.push(error.message));
    page.on('dialog', dialog => complaints.push(`dialog: ${dialog.message()}`));
    page.on('request', request => { if (request.url().split('#')[0] !== url) requests.push(request.url()); });
    await page.goto(url + hash);
    await frames(page);
    if (!lazily) await page.evaluate(() => window.mprof_draw_all?.());
    await use(page);
    assert.deepEqual(complaints, [], 'the console stays empty');
    assert.deepEqual(requests, [], 'no request leaves the file');
  } finally {
    await context.close();
  }
}

const overflow = page => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

/// What each chart but the timeline, which has its own tests, has drawn: its view's rows and points, and its SVG's texts and marks.
const charts = page => page.evaluate(() => {
  const views = JSON.parse(document.getElementById('chart-data').textContent);
  return views.filter(view => view.kind !== 'timeline').map(view => {
    const svg = document.querySelector(`[data-chart="${view.id}"] svg`);
    return {
      id: view.id,
      rows: view.rows.length,
      points: view.series.reduce((sum, series) => sum + series.points.length, 0),
      texts: svg ? svg.querySelectorAll('text').length : 0,
      marks: svg ? svg.querySelectorAll('path').length : 0,
      width: svg ? svg.getBoundingClientRect().width : 0,
      paged: svg ? [...svg.querySelectorAll('text')].some(text => /^\d+\/\d+$/.test(text.textContent)) : false
    };
  });
});

const serious_findings = async page => {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return result.violations.filter(finding => ['serious', 'critical'].includes(finding.impact))
      .map(finding => `${finding.id}: ${finding.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(' | ')}`);
};

for (const name of ['run_a', 'run_b', 'h200', 'troubled', 'gpu', 'hostile', 'empty', 'large', 'swept', 'two_families']) {
  for (const [size, viewport] of Object.entries({ phone, desk })) {
    test(`${name} fits a ${size}`, () => with_page(`${name}/milestone.html`, { viewport }, async page => {
      assert.ok(await overflow(page) <= 0, 'no horizontal scrolling of the page');
      for (const chart of await charts(page)) {
        assert.ok(chart.width > 0 && chart.width <= viewport.width, `${chart.id} is ${chart.width} wide`);
        assert.ok(chart.texts >= chart.rows, `${chart.id} names its rows`);
        assert.ok(chart.marks >= chart.points && chart.points > 0, `${chart.id} draws its points`);
        assert.ok(!chart.paged, `${chart.id} has its whole legend in sight`);
      }
    }));
  }
}

// Each of these pages shows something that the others do not; more of the same would only take time.
for (const [name, colorScheme] of [['run_a', 'light'], ['run_a', 'dark'], ['troubled', 'dark'], ['troubled', 'light'],
                                   ['gpu', 'light'], ['h200', 'light'], ['h200', 'dark'], ['hostile', 'light'], ['empty', 'dark'],
                                   ['swept', 'light'], ['swept', 'dark'], ['two_families', 'light'],
                                   ['two_families', 'dark']]) {
  test(`${name} is accessible in ${colorScheme}`, () =>
    with_page(`${name}/milestone.html`, { colorScheme }, async page => {
      assert.deepEqual(await serious_findings(page), []);
    }));
}

for (const [name, viewport] of [['gpu', phone], ['gpu', desk], ['hostile', phone]]) {
  test(`${name}: folded evidence opens, fits ${viewport.width} pixels and is accessible`, () =>
    with_page(`${name}/milestone.html`, { viewport }, async page => {
      const folded = page.locator('details.evidence');
      assert.ok(await folded.count() > 0);
      const table = folded.first().locator('table').first();
      assert.equal(await table.isVisible(), false);
      for (const details of await folded.all()) await details.locator('summary').click();
      assert.ok(await table.isVisible());
      assert.ok(await overflow(page) <= 0, 'no horizontal scrolling of the page');
      assert.deepEqual(await serious_findings(page), []);
    }));
}

describe('milestone', () => {
  test('has the table that is asked for, with the numbers of the run', () =>
    with_page('run_a/milestone.html', {}, async page => {
      const heads = await page.locator('.variant table').first().locator('th').allTextContents();
      assert.deepEqual(heads.map(head => head.replace(/ (m|µ|n)?s$/, '')).slice(0, 5),
                       ['Batch Size', 'Op Time 1', 'Op Time 2', 'Total Execution Time', 'Accuracy']);
      assert.ok(await page.locator('table').count() >= 10);
      for (const table of await page.locator('table').all()) {
        assert.ok(await table.locator('tbody tr').count() > 0);
      }
    }));

  test('is one file of at most 3 MB', () => {
    for (const name of ['run_a/milestone.html', whole]) {
      assert.ok(readFileSync(join(folder, name)).length <= 3_000_000, name);
    }
  });

  test('changes its theme, and the charts with it', () =>
    with_page('run_a/milestone.html', {}, async page => {
      const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const label = () => page.evaluate(() => document.querySelector('.plot svg text').getAttribute('fill'));
      const before = [await ground(), await label()];
      await page.getByRole('button', { name: 'Dark theme' }).click();
      const dark = [await ground(), await label()];
      assert.notEqual(dark[0], before[0]);
      assert.notEqual(dark[1], before[1]);
      await page.getByRole('button', { name: 'Light theme' }).click();
      assert.deepEqual([await ground(), await label()], before);
    }));

  test('redraws its charts when the window changes', () =>
    with_page('run_a/milestone.html', {}, async page => {
      await page.setViewportSize(phone);
      await eventually(async () => {
        for (const chart of await charts(page)) assert.ok(chart.width <= phone.width, chart.id);
      });
      assert.ok(await overflow(page) <= 0);
    }));

  test('says more when a mark is hovered', () =>
    with_page('hostile/milestone.html', {}, async page => {
      const mark = page.locator('.plot').first().locator('svg path[fill="#0b62b0"]').last();
      await mark.hover({ force: true });
      await eventually(async () => assert.match(await page.locator('.plot').first().innerText(), /batch 100/));
    }));

  test('says which kernel a mark of the roofline is', () =>
    with_page('h200/milestone.html', {}, async page => {
      const plot = page.locator('[data-chart="conv-roofline-layer1"]');
      await plot.locator('svg path[fill="#0b62b0"]').first().hover({ force: true });
      await eventually(async () => assert.match(await plot.innerText(), /: \w+[\s\S]*FLOP\/B; /));
    }));

  test('takes hostile names for text', () =>
    with_page('hostile/milestone.html', {}, async page => {
      assert.doesNotMatch(await page.title(), /^owned/);
      assert.equal(await page.locator('img').count(), 0);
      assert.equal(await page.locator('a[href^="javascript"]').count(), 0);
      assert.equal(await page.locator('main script').count(), 0);
    }));

  test('leads to every section from its contents', () =>
    with_page('gpu/milestone.html', {}, async page => {
      const dead = await page.evaluate(() => [...document.querySelectorAll('a[href^="#"]')]
          .map(link => link.getAttribute('href').slice(1)).filter(id => !document.getElementById(id)));
      assert.deepEqual(dead, []);
      const ids = await page.evaluate(() => [...document.querySelectorAll('[id]')].map(element => element.id));
      assert.equal(new Set(ids).size, ids.length, 'ids are unique');
    }));

  test('prints in light colours without its contents', () =>
    with_page('run_a/milestone.html', { colorScheme: 'dark' }, async page => {
      await page.emulateMedia({ media: 'print' });
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
      assert.ok(!await page.locator('nav').isVisible());
      assert.ok((await page.pdf()).length > 10_000);
    }));

  test('is readable without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(folder, 'run_a/milestone.html')).href);
    assert.match(await page.locator('noscript').first().innerText(), /tables hold the same numbers/);
    await context.close();
  });
});

const whole = 'h200-2026-11-21/milestone.html';  // eighteen variants at four batches, traced and counted

/// The texts of a column as they stand there, top to bottom, without small print and footnote marks.
const column = (figure, place) => figure.locator('tbody tr:visible').evaluateAll((rows, place) =>
  rows.map(row => row.cells[place].firstElementChild.textContent), place);
const said = page => page.locator('.announce').textContent();

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
  for (const name of ['run_a', 'h200', 'troubled', 'gpu', 'large', 'h200-2026-11-21']) {
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
    with_page(whole, {}, async page => {
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
    with_page(whole, {}, async page => {
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
      await with_page(whole, { hash: odd }, async page => {
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
    with_page(name, {}, async page => {
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
      with_page(name, {}, async page => {
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
      await with_page(name, {}, async page => {
        await pick(page, family, 'problem', words.problems[0]);
        await pick(page, family, 'op', words.ops[0]);
        hash = await page.evaluate(() => location.hash);
        chosen = await sight(page, family);
      });
      await with_page(name, { hash }, async page => {
        assert.deepEqual(await sight(page, family), chosen);
        assert.ok(chosen.charts.length > 0);
        assert.deepEqual((await sight(page, other)).checked, ['', '']);
        assert.deepEqual((await sight(page, other)).notes, []);
        const top = await section(page, family).evaluate(element => element.getBoundingClientRect().top);
        assert.ok(Math.abs(top) < 60, `the charts stand at ${top}`);
      });
      // A problem of one family is none of the other.
      await with_page(name, { hash: hash.replace(`#${family}-`, `#${other}-`).replace(/,op=.*/, '') }, async page => {
        for (const each of [family, other]) assert.deepEqual((await sight(page, each)).checked, ['', '']);
      });
    });

    test(`a link to what the switch of ${family} hides leaves the choice in ${other}`, () =>
      with_page(name, {}, async page => {
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

describe('links', () => {
  test('to what is folded away open it, also when the page is opened with them', async () => {
    const target = 'details.evidence figure.table';
    let id;
    await with_page('gpu/milestone.html', {}, async page => {
      id = await page.locator(target).last().getAttribute('id');
      assert.equal(await page.locator(`#${id}`).isVisible(), false);
      await page.evaluate(anchor => { location.hash = anchor; }, id);
      await page.locator(`#${id}`).waitFor();
      await page.locator('details.evidence').last().evaluate(details => { details.open = false; });
      await page.evaluate(anchor => document.querySelector('.subtitle').insertAdjacentHTML('afterend', `<a href="#${anchor}">there</a>`), id);
      await page.getByRole('link', { name: 'there', exact: true }).click();
      await page.locator(`#${id}`).waitFor();  // although the address stays the same
    });
    await with_page('gpu/milestone.html', { hash: '#' + id }, async page => {
      assert.ok(await page.locator(`#${id}`).isVisible());
      const top = await page.locator(`#${id}`).evaluate(element => element.getBoundingClientRect().top);
      assert.ok(top > -5 && top < desk.height, `it stands at ${top}`);
    });
  });

  test('to what a choice hides undo the choice', () =>
    with_page(whole, {}, async page => {
      await page.locator('.switch').getByRole('radio', { name: 'layer2' }).check();
      assert.equal(await page.locator('#conv-op-time-1').isVisible(), false);
      await page.evaluate(() => { location.hash = 'conv-op-time-1'; });
      await page.locator('#conv-op-time-1').waitFor();
    }));

  test('of the contents say where the reader is', () =>
    with_page(whole, {}, async page => {
      const current = page.locator('nav a[aria-current]');
      for (const [anchor, name] of [['conv-verification', 'Verification'], ['setup', 'Setup'], ['conv-cudnn', 'conv/cudnn']]) {
        await page.locator(`#${anchor}`).evaluate(element => element.scrollIntoView());
        await frames(page);
        if (anchor !== 'setup') await eventually(async () => assert.deepEqual(await current.allTextContents(), [name]));
      }
      await page.locator('nav li details').evaluate(details => { details.open = false; });
      await page.locator('#conv-fp16').evaluate(element => element.scrollIntoView());
      await eventually(async () =>
        assert.deepEqual(await current.allTextContents(), ['Variants'], 'a folded list is marked as a whole'));
    }));
});

describe('charts', () => {
  test('are drawn when they come near the window', () =>
    with_page(whole, { lazily: true }, async page => {
      const drawn = () => page.locator('.plot').evaluateAll(plots => plots.map(plot => plot.querySelector('svg') !== null));
      assert.ok((await drawn()).includes(false), 'not all at once');
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      const plots = await page.locator('.plot').all();
      await plots[plots.length - 1].evaluate(plot => plot.scrollIntoView());
      await plots[plots.length - 1].locator('svg').waitFor();
      await page.evaluate(() => window.mprof_draw_all());
      assert.ok(!(await drawn()).includes(false));
      assert.equal(await page.evaluate(() => document.documentElement.scrollHeight), height, 'their place is kept free');
    }));
});

describe('paper', () => {
  test('has everything: all charts in light, all that is folded, no control; and the page is as before afterwards', () =>
    with_page(whole, { colorScheme: 'dark', lazily: true }, async page => {
      const open = () => page.locator('main details').evaluateAll(list => list.map(details => details.open));
      const before = await open();
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
      await page.emulateMedia({ media: 'print' });
      assert.ok(!(await open()).includes(false));
      const text = await page.locator('.plot').evaluateAll(plots => plots.map(plot => plot.querySelector('svg text')?.getAttribute('fill')));
      assert.deepEqual([...new Set(text)], ['#59636e'], 'the muted text of the light theme');
      for (const control of ['.tools button', '.tools input', '.switch', 'nav', '.hidden-parts']) {
        assert.equal(await page.locator(`${control}:visible`).count(), 0, control);
      }
      await page.setViewportSize({ width: 703, height: 1000 });
      const cut = await page.evaluate(() => [...document.querySelectorAll('figure.table:not(.wide) table, .plot svg')]
          .filter(part => part.getBoundingClientRect().right > 704).map(part => part.closest('figure').id));
      assert.deepEqual(cut, [], 'nothing is wider than a page');
      await page.emulateMedia({ media: 'screen' });
      await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
      assert.deepEqual(await open(), before);
    }));

  test('keeps a filter, and says so', () =>
    with_page(whole, {}, async page => {
      const figure = page.locator('[data-problem] figure').first();
      await figure.getByRole('searchbox').fill('matmul');
      await page.locator('.switch').getByRole('radio', { name: 'layer2' }).check();
      await page.emulateMedia({ media: 'print' });
      assert.match(await figure.locator('output').innerText(), /^\d+ of \d+ rows$/);
      assert.equal(await page.locator('.chosen').innerText(), 'Shown here: layer2.');
    }));
});

describe('without scripts', () => {
  test('there is no control that does nothing', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(folder, whole)).href);
    assert.equal(await page.locator('main button:visible, main input:visible, main select:visible').count(), 0);
    assert.equal(await page.locator('main table').first().isVisible(), true);
    for (const part of await page.locator('[data-problem]').all()) assert.ok(await part.isVisible());
    await context.close();
  });
});

describe('static charts', () => {
  test('are well-formed, whatever the names in them', () =>
    with_page('hostile/milestone.html', {}, async page => {
      const parser = text => page.evaluate(xml => {
        const root = new DOMParser().parseFromString(xml, 'image/svg+xml').documentElement;
        return [root.nodeName, root.querySelectorAll('parsererror, script').length, root.querySelectorAll('text').length > 3];
      }, text);
      for (const name of ['run_a', 'hostile', 'gpu', 'h200', 'swept']) {
        for (const file of readdirSync(join(folder, name, 'charts'))) {
          const svg = readFileSync(join(folder, name, 'charts', file), 'utf8');
          assert.deepEqual(await parser(svg), ['svg', 0, true], `${name}/${file}`);
        }
      }
    }));

  for (const colorScheme of ['light', 'dark']) {
    test(`stand out from a ${colorScheme} ground`, () =>
      with_page('run_a/charts/conv-op-time-1.svg', { colorScheme }, async page => {
        const fill = await page.evaluate(() => getComputedStyle(document.querySelector('text')).fill);
        const [red] = fill.match(/\d+/g).map(Number);
        assert.ok(colorScheme === 'dark' ? red > 140 : red < 110, fill);
      }));
  }
});

test('compute-sanitizer says of each variant and tool what was found', () =>
  with_page('gpu/milestone.html', {}, async page => {
    assert.equal(await page.locator('nav a', { hasText: 'Compute Sanitizer: conv' }).count(), 1);
    const table = page.locator('figure', { hasText: 'What compute-sanitizer found' }).first();
    const row = name => table.locator('tbody tr', { hasText: name }).locator('td').allInnerTexts();
    assert.deepEqual(await row('conv/baseline'), ['conv/baseline', '3 errorsa', 'failedb', 'time limitc', 'skippedd']);
    assert.deepEqual(await row('conv/streams'), ['conv/streams', 'clean', 'cleane', 'clean', 'clean']);
    assert.match(await page.locator('.findings .wrong').first().innerText(), /compute-sanitizer \(memcheck\) found 3 errors/);
  }));

describe('timeline', () => {
  const figure = page => page.locator('figure.timeline');
  // Charts are drawn when they come near the window.
  const with_timeline = (name, options, use) => with_page(name, options, async page => {
    await page.evaluate(() => window.mprof_draw_all());
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
      with_page(`${name}/milestone.html`, { colorScheme, viewport }, async page => {
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
    assert.match(await figure(page).locator('noscript').innerText(), /The table holds the figures/);
    assert.equal(await figure(page).locator('select').first().isVisible(), false);
    await context.close();
  });
});

describe('comparison', () => {
  for (const [size, viewport] of Object.entries({ phone, desk })) {
    test(`fits a ${size}`, () => with_page('compare.html', { viewport }, async page => {
      assert.ok(await overflow(page) <= 0);
      assert.ok(await page.locator('table').count() >= 3);
      assert.deepEqual(await serious_findings(page), []);
    }));
  }
});

describe('sweeps', () => {
  const plot = (page, id) => page.locator(`[data-chart="${id}"]`);

  /// Where the marks of a curve's series are, from left to right.
  const hover_at = async (page, chart, fraction) => {
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    await page.mouse.move(box.x + box.width * fraction, box.y + box.height / 2);
  };

  test('draw a line, the default and a cross with its reason', () =>
    with_page('swept/milestone.html', {}, async page => {
      const texts = await plot(page, 'conv-tiled-sweep-layer1').locator('svg text').allTextContents();
      for (const text of ['4', '8', '16', '32', '64', 'default', 'wrong, crashed', 'batch 1000', 'batch 10000']) {
        assert.ok(texts.includes(text), `${text} is not among ${texts}`);
      }
      const lines = await plot(page, 'conv-tiled-sweep-layer1').locator('svg path[fill="none"][stroke="#0b62b0"]').count();
      assert.ok(lines > 0);
    }));

  test('draw no line between words', () =>
    with_page('swept/milestone.html', {}, async page => {
      const widths = await plot(page, 'conv-precision-sweep-layer1').evaluate(
          chart => [...chart.querySelectorAll('path[fill="none"][stroke="#0b62b0"]')]
              .filter(path => path.getBBox().width > 50).map(path => Number(path.getAttribute('stroke-width') ?? 1)));
      assert.deepEqual(widths.filter(width => width > 0), []);
    }));

  test('say all batches of a value that is pointed at, those without a time too', () =>
    with_page('swept/milestone.html', {}, async page => {
      const chart = plot(page, 'conv-tiled-sweep-layer1');
      await hover_at(page, chart, 0.54);
      await eventually(async () => assert.match(await chart.innerText(), /tile_width=16[\s\S]*batch 1000: 130\.0\s*ms[\s\S]*batch 10000: 1\.000\s*s[^\n]*the best/));
      await hover_at(page, chart, 0.88);
      await eventually(async () => assert.match(await chart.innerText(), /tile_width=64[\s\S]*the output is wrong[\s\S]*crashed: the worker ended/));
    }));

  test('have a cell for each pair of values', () =>
    with_page('swept/milestone.html', {}, async page => {
      const chart = plot(page, 'conv-matrix-sweep-layer1-10000');
      const texts = await chart.locator('svg text').allTextContents();
      for (const text of ['8x4', '16x16', '24', '900', 'crashed', 'not run']) {
        assert.ok(texts.includes(text), `${text} is not among ${texts}`);
      }
      await chart.locator('svg path[fill="#0b4a86"]').first().hover({ force: true });
      await eventually(async () =>
        assert.match(await chart.innerText(), /tile_width=24,block=8x8[\s\S]*900\.0\s*ms[^\n]*the best/));
    }));

  test('have shades whose order is one of lightness, and figures that stand out from them', () =>
    with_page('swept/milestone.html', {}, async page => {
      const [light, dark] = await page.evaluate(() => ['light', 'dark'].map(name => {
        const channel = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        const luminance = colour => [0.2126, 0.7152, 0.0722].reduce(
            (sum, weight, i) => sum + weight * channel(parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16) / 255), 0);
        const theme = mprof_themes[name], shades = theme.heat.map(luminance);
        const contrasts = theme.heat_text.map((text, i) => {
          const [low, high] = [luminance(text), shades[i]].sort((a, b) => a - b);
          return (high + 0.05) / (low + 0.05);
        });
        return { shades, contrasts };
      }));
      for (let i = 1; i < light.shades.length; i++) {
        assert.ok(light.shades[i] > light.shades[i - 1], 'in the light theme the fastest is the darkest');
        assert.ok(dark.shades[i] < dark.shades[i - 1], 'in the dark theme the fastest is the lightest');
      }
      for (const contrast of [...light.contrasts, ...dark.contrasts]) assert.ok(contrast >= 4.5, `contrast ${contrast}`);
    }));

  test('are in the contents, only where something was swept', async () => {
    await with_page('swept/milestone.html', {}, async page => {
      assert.equal(await page.locator('nav a[href="#conv-sweeps"]').count(), 1);
      assert.equal(await page.locator('section.sweep').count(), 5);
    });
    await with_page('run_a/milestone.html', {}, async page => {
      assert.equal(await page.locator('nav a', { hasText: 'Sweeps' }).count(), 0);
      assert.equal(await page.locator('section.sweep').count(), 0);
    });
  });
});
