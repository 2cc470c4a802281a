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
                         join(source, 'tests/golden/h200')]);
  browser = await chromium.launch({ executablePath, args: flags });
});

after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/// Opens a page and passes it to `use`, then expects that it asked for nothing and complained of nothing.
async function with_page(name, { viewport = desk, colorScheme = 'light' }, use) {
  const context = await browser.newContext({ viewport, colorScheme });
  try {
    const page = await context.newPage();
    const url = pathToFileURL(join(folder, name)).href;
    const complaints = [], requests = [];
    page.on('console', message => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', error => complaints.push(error.message));
    page.on('dialog', dialog => complaints.push(`dialog: ${dialog.message()}`));
    page.on('request', request => { if (request.url() !== url) requests.push(request.url()); });
    await page.goto(url);
    await page.waitForTimeout(100);
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
      width: svg ? svg.getBoundingClientRect().width : 0
    };
  });
});

const serious_findings = async page => {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return result.violations.filter(finding => ['serious', 'critical'].includes(finding.impact))
      .map(finding => `${finding.id}: ${finding.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(' | ')}`);
};

for (const name of ['run_a', 'run_b', 'h200', 'troubled', 'gpu', 'hostile', 'empty', 'large']) {
  for (const [size, viewport] of Object.entries({ phone, desk })) {
    test(`${name} fits a ${size}`, () => with_page(`${name}/milestone.html`, { viewport }, async page => {
      assert.ok(await overflow(page) <= 0, 'no horizontal scrolling of the page');
      for (const chart of await charts(page)) {
        assert.ok(chart.width > 0 && chart.width <= viewport.width, `${chart.id} is ${chart.width} wide`);
        assert.ok(chart.texts >= chart.rows, `${chart.id} names its rows`);
        assert.ok(chart.marks >= chart.points && chart.points > 0, `${chart.id} draws its points`);
      }
    }));
  }
}

// Each of these pages shows something that the others do not; more of the same would only take time.
for (const [name, colorScheme] of [['run_a', 'light'], ['run_a', 'dark'], ['troubled', 'dark'], ['troubled', 'light'],
                                   ['gpu', 'light'], ['h200', 'light'], ['h200', 'dark'], ['hostile', 'light'], ['empty', 'dark']]) {
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
    assert.ok(readFileSync(join(folder, 'run_a/milestone.html')).length <= 3_000_000);
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
      await page.waitForTimeout(200);
      for (const chart of await charts(page)) assert.ok(chart.width <= phone.width, chart.id);
      assert.ok(await overflow(page) <= 0);
    }));

  test('says more when a mark is hovered', () =>
    with_page('hostile/milestone.html', {}, async page => {
      const mark = page.locator('.plot').first().locator('svg path[fill="#0b62b0"]').last();
      await mark.hover({ force: true });
      await page.waitForTimeout(200);
      const tip = await page.locator('.plot').first().innerText();
      assert.match(tip, /batch 100/);
    }));

  test('says which kernel a mark of the roofline is', () =>
    with_page('h200/milestone.html', {}, async page => {
      const plot = page.locator('[data-chart="conv-roofline-layer1"]');
      await plot.locator('svg path[fill="#0b62b0"]').first().hover({ force: true });
      await page.waitForTimeout(200);
      assert.match(await plot.innerText(), /: \w+[\s\S]*FLOP\/B; /);
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

describe('static charts', () => {
  test('are well-formed, whatever the names in them', () =>
    with_page('hostile/milestone.html', {}, async page => {
      const parser = text => page.evaluate(xml => {
        const root = new DOMParser().parseFromString(xml, 'image/svg+xml').documentElement;
        return [root.nodeName, root.querySelectorAll('parsererror, script').length, root.querySelectorAll('text').length > 3];
      }, text);
      for (const name of ['run_a', 'hostile', 'gpu', 'h200']) {
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

describe('timeline', () => {
  const figure = page => page.locator('figure.timeline');
  const texts = page => page.evaluate(() => [...document.querySelectorAll('figure.timeline svg text')]
      .map(text => text.textContent));
  const fills = page => page.evaluate(() => new Set([...document.querySelectorAll('figure.timeline svg path')]
      .map(path => path.getAttribute('fill'))).size);
  const shown = page => figure(page).locator('output').textContent();

  for (const [size, viewport] of Object.entries({ phone, desk })) {
    test(`fits a ${size}`, () => with_page('gpu/milestone.html', { viewport }, async page => {
      const box = await figure(page).locator('svg').boundingBox();
      assert.ok(box.width > 0 && box.width <= viewport.width, `it is ${box.width} wide`);
      const drawn = (await texts(page)).map(text => text.replace(/\u00a0/g, ' '));
      for (const row of ['Layers', 'API calls', 'stream 7', 'stream 8', 'stream 9', 'Overlap']) {
        assert.equal(drawn.filter(text => text === row).length, 2, `${row} of both cases`);
      }
      assert.ok(drawn.some(text => /^conv\/streams, batch 10000: +overlap 12.5 %/.test(text)), drawn.join('|'));
      assert.ok(await fills(page) > 6, 'kinds differ in colour');
    }));
  }

  test('lies below its baseline, until the reader chooses others', () =>
    with_page('gpu/milestone.html', {}, async page => {
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
    with_page('gpu/milestone.html', {}, async page => {
      const press = async name => {
        await figure(page).getByRole('button', { name, exact: true }).focus();
        await page.keyboard.press('Enter');
        await page.waitForTimeout(50);
      };
      const spans = async () => (await shown(page)).replace(/\u00a0/g, ' ');
      assert.equal(await spans(), 'All is shown.');
      await press('Zoom in');
      assert.equal(await spans(), '2.500 µs to 7.500 µs');
      await press('Later');
      assert.equal(await spans(), '5 µs to 10 µs');
      assert.ok((await texts(page)).includes('layer2'), 'names stand in what is large enough now');
      await press('Earlier');
      await press('Zoom in');
      assert.equal(await spans(), '3.750 µs to 6.250 µs');
      await page.getByRole('button', { name: 'Dark theme' }).click();
      assert.equal(await spans(), '3.750 µs to 6.250 µs', 'a new theme is no reason to start again');
      await page.setViewportSize(phone);
      await page.waitForTimeout(200);
      assert.equal(await spans(), '3.750 µs to 6.250 µs');
      await press('Zoom out');
      assert.equal(await spans(), '2.500 µs to 7.500 µs');
      await press('All');
      assert.equal(await spans(), 'All is shown.');
    }));

  test('says of a block what it was', () =>
    with_page('gpu/milestone.html', {}, async page => {
      const copies = figure(page).locator('svg path[fill="#f2a65a"]');
      await copies.first().hover({ force: true });  // the last one is the legend's
      await page.waitForTimeout(200);
      const tip = (await figure(page).locator('.plot').innerText()).replace(/\u00a0/g, ' ');
      assert.match(tip, /stream 7\s+Host-to-Device copy \(Pinned to Device\)\s+starts at 420 ns\s+takes 400 ns\s+4\.096 kB, 10\.24 GB\/s/);
    }));

  test('leaves the wheel to the page, but with Ctrl', () =>
    with_page('gpu/milestone.html', {}, async page => {
      await figure(page).locator('.plot').scrollIntoViewIfNeeded();
      const box = await figure(page).locator('.plot').boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      const before = await page.evaluate(() => window.scrollY);
      await page.mouse.wheel(0, -150);
      await page.waitForTimeout(300);
      assert.notEqual(await page.evaluate(() => window.scrollY), before);
      assert.equal(await shown(page), 'All is shown.');
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -150);
      await page.keyboard.up('Control');
      await page.waitForTimeout(100);
      const ends = (await shown(page)).match(/[\d.]+/g).map(Number);
      assert.ok(ends[0] > 0 && ends[1] < 10, ends.join(' to '));
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
