// SPDX-License-Identifier: MIT
// The browser in which the tests look at the pages that render_run has made in the folder PAGES. Exits with 77 where there is
// no Chromium. CHROMIUM names one that is not on the PATH.
import assert from 'node:assert/strict';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const source = fileURLToPath(new URL('../..', import.meta.url));

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
export const folder = process.env.PAGES ?? skip('PAGES does not name the folder of the pages');
const { chromium } = await load_development_module('playwright-core');
await load_development_module('axe-core');
const axe = readFileSync(join(source, 'node_modules/axe-core/axe.min.js'), 'utf8');

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
               '--disable-background-networking', '--disable-component-update', '--disable-sync'];
export const phone = { width: 390, height: 800 }, desk = { width: 1400, height: 900 };

export let browser;

before(async () => {
  assert.ok(existsSync(join(folder, 'run_a/milestone.html')), `${folder} holds no pages`);
  browser = await chromium.launch({ executablePath, args: flags });
});

after(async () => browser?.close());

/// ms, that the browser is waited for: it ends what hangs, on a machine with much else to do as well.
const patience = 600_000;

/// Resolves when the page has been laid out and painted after all that was done to it so far.
export const frames = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));

/// Resolves when `check` no longer throws; what it threw last, when all patience was in vain.
export async function eventually(check) {
  for (const end = Date.now() + patience;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  }
}

/// Unfolds the whole report as its readers do, with the keyboard, so that what gets the focus next shows it; listings and raw
/// samples stay folded.
export const unfold = page => page.getByRole('button', { name: 'Unfold all: the whole report' }).press('Enter');

/// Each test has a page of its own, in a context that tests with the same permissions share: all but the first page of a context
/// are loaded in a third of the time. Between two tests a context would keep storage and cookies, which are emptied; one in which
/// a test failed is closed. One page stays open, so that the process that the pages share does.
const contexts = new Map();

async function kept_context(key, options) {
  if (!contexts.has(key)) {
    const context = await browser.newContext({ viewport: desk, ...options });
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(folder, 'run_a/charts/conv-op-time-1.svg')).href);
    contexts.set(key, context);
  }
  return contexts.get(key);
}

/// Opens a page and passes it to `use`, then expects that it asked for nothing and complained of nothing. A page comes folded, as
/// its readers find it, unless `unfolded` is set; what is folded has no chart yet. Charts are drawn when they come near the
/// window, or all at once where `drawn` is set.
export async function with_page(name, { viewport = desk, colorScheme = 'light', hash = '', drawn = false, unfolded = false, ...more },
                                use) {
  const key = JSON.stringify(more), context = await kept_context(key, more);
  const page = await context.newPage();
  try {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const url = pathToFileURL(join(folder, name)).href;
    const complaints = [], requests = [];
    page.on('console', message => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', error => complaints.push(error.message));
    page.on('dialog', dialog => complaints.push(`dialog: ${dialog.message()}`));
    page.on('request', request => { if (request.url().split('#')[0] !== url) requests.push(request.url()); });
    await page.goto(url + hash);
    await frames(page);
    assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0, 'no other test left anything');
    if (unfolded) await unfold(page);
    if (drawn) await page.evaluate(() => window.mprof_draw_all());
    await use(page);
    assert.deepEqual(complaints, [], 'the console stays empty');
    assert.deepEqual(requests, [], 'no request leaves the file');
    await page.evaluate(() => localStorage.clear());
    await context.clearCookies();
    await page.close();
  } catch (error) {
    contexts.delete(key);
    await context.close();
    throw error;
  }
}

export const overflow = page => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

/// What each chart has drawn that is not folded away, but for the timeline, which has its own tests: its view's rows and points,
/// and its SVG's texts, those of them that are rows, and marks. Of curves, the points of the longest series and the vertices of the
/// longest line.
export const charts = page => page.evaluate(() => {
  const views = JSON.parse(document.getElementById('chart-data').textContent);
  const is_open = view => !document.querySelector(`[data-chart="${view.id}"]`).closest('details:not([open])');
  return views.filter(view => view.kind !== 'timeline' && is_open(view)).map(view => {
    const svg = document.querySelector(`[data-chart="${view.id}"] svg`);
    return {
      id: view.id,
      kind: view.kind,
      rows: view.rows.length,
      points: view.series.reduce((sum, series) => sum + series.points.length, 0),
      texts: svg ? svg.querySelectorAll('text').length : 0,
      marks: svg ? svg.querySelectorAll('path').length : 0,
      // Of lines alone: what is filled has the points of a curve and of the axis below it.
      vertices: svg ? Math.max(0, ...[...svg.querySelectorAll('path[fill="none"]')].map(path =>
        (path.getAttribute('d') ?? '').match(/-?[\d.]+(e-?\d+)?/g)?.length / 2 || 0)) : 0,
      longest: Math.max(0, ...view.series.map(series => series.points.length)),
      named: svg ? [...svg.querySelectorAll('text')].filter(text => view.rows.includes(text.textContent)).length : 0,
      width: svg ? svg.getBoundingClientRect().width : 0,
      paged: svg ? [...svg.querySelectorAll('text')].some(text => /^\d+\/\d+$/.test(text.textContent)) : false
    };
  });
});

/// In the page: of the texts and controls in `what` that look alike, the first. Those look alike that have the same styles that
/// decide how they stand out, and whose ancestors have the same backgrounds.
const distinct_looks = what => {
  const own = ['color', 'fill', 'font-size', 'font-weight', 'text-decoration-line', 'text-shadow', '-webkit-text-fill-color'];
  const inherited = ['display', 'position', 'color', 'background-color', 'background-image', 'opacity', 'mix-blend-mode', 'filter',
                     'clip', 'overflow', 'border-bottom-style', '--ground'];
  const styles = (element, names) => {
    const style = getComputedStyle(element);
    return names.map(name => style.getPropertyValue(name)).join();
  };
  const grounds = new Map(), numbers = new Map();
  const ground = element => {
    if (!element) return 0;
    if (!grounds.has(element)) {
      const look = [ground(element.parentElement), element.tagName, element.getAttribute('class'), styles(element, inherited)].join();
      if (!numbers.has(look)) numbers.set(look, numbers.size + 1);
      grounds.set(element, numbers.get(look));
    }
    return grounds.get(element);
  };
  const has_text = element => [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
  const firsts = new Map();
  for (const element of document.querySelectorAll(`${what}, :is(${what}) *`)) {
    if (!element.matches('a, input, select, textarea, button') && !has_text(element) || !element.checkVisibility()) continue;
    const look = [ground(element), element.tagName === 'INPUT' ? element.type : '', styles(element, own)].join();
    if (!firsts.has(look)) firsts.set(look, element);
  }
  return [...firsts.values()];
};

/// What `look` gives while all that is folded away is out of the document: nobody sees it, and axe looks at it for long.
const without_folded = async (page, look) => {
  await page.evaluate(() => {
    const folded = [...document.querySelectorAll('details:not([open])')].filter(one => !one.parentElement.closest('details:not([open])'));
    window.taken = folded.map(details => {
      const content = document.createDocumentFragment();
      content.append(...[...details.childNodes].filter(node => node.nodeName !== 'SUMMARY'));
      return { details, content };
    });
  });
  const seen = await look();
  await page.evaluate(() => window.taken.forEach(({ details, content }) => details.append(content)));
  return seen;
};

const findings = async (page, what, options, choice = 'what => what') => {
  const result = await page.evaluate(`window.axe.run((${choice})(${JSON.stringify(what)}), ` +
                                     `${JSON.stringify({ resultTypes: ['violations'], ...options })})`);
  return result.violations.filter(finding => ['serious', 'critical'].includes(finding.impact))
      .map(finding => `${finding.id}: ${finding.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(' | ')}`);
};

const of_looks = ['color-contrast', 'link-in-text-block'];
const of_folded_too = ['duplicate-id-aria', 'accesskeys'];

const findings_of_looks = (page, what) => findings(page, what, { runOnly: of_looks }, distinct_looks);

/// Texts that stand out too little. This takes milliseconds an element, and says the same of each that looks alike.
export const contrast_findings = async (page, what = 'html') => {
  await page.evaluate(axe);
  return without_folded(page, () => findings_of_looks(page, what));
};

/// Of the whole page, or of what a selector names.
export const serious_findings = async (page, what = 'html') => {
  await page.evaluate(axe);
  const others = Object.fromEntries([...of_looks, ...of_folded_too].map(rule => [rule, { enabled: false }]));
  return [
    ...await findings(page, what, { runOnly: of_folded_too }),
    ...await without_folded(page, async () => [...await findings(page, what, { rules: others }), ...await findings_of_looks(page, what)]),
  ];
};

export const whole = 'whole/milestone.html';  // eighteen variants at four batches, traced and counted

/// The texts of a column as they stand there, top to bottom, without small print and footnote marks.
export const column = (figure, place) => figure.locator('tbody tr:visible').evaluateAll((rows, place) =>
  rows.map(row => row.cells[place].firstElementChild.textContent), place);
export const said = page => page.locator('.announce').textContent();
