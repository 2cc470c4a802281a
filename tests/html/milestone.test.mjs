// SPDX-License-Identifier: MIT
// What the milestone report holds, on the screen, on paper and without scripts.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  browser, charts, desk, eventually, folder, frames, overflow, phone, serious_findings, unfold, whole, with_page,
} from './browser.mjs';

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

  test('is one file of at most 3.2 MB', () => {
    for (const name of ['run_a/milestone.html', whole]) {
      assert.ok(readFileSync(join(folder, name)).length <= 3_200_000, name);
    }
  });

  test('changes its theme, and the charts with it', () =>
    with_page('run_a/milestone.html', { drawn: true }, async page => {
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
    with_page('run_a/milestone.html', { drawn: true }, async page => {
      await page.setViewportSize(phone);
      await eventually(async () => {
        for (const chart of await charts(page)) assert.ok(chart.width <= phone.width, chart.id);
      });
      assert.ok(await overflow(page) <= 0);
    }));

  test('says more when a mark is hovered', () =>
    with_page('hostile/milestone.html', { unfolded: true, drawn: true }, async page => {
      const mark = page.locator('section[data-charts] .plot').first().locator('svg path[fill="#0b62b0"]').last();
      await mark.hover({ force: true });
      await eventually(async () => assert.match(await page.locator('section[data-charts] .plot').first().innerText(), /batch 100/));
    }));

  test('says which kernel a mark of the roofline is', () =>
    with_page('h200/milestone.html', { unfolded: true, drawn: true }, async page => {
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

describe('folding', () => {
  const variants = page => page.locator('.variant > details');
  const open_ones = page => page.locator('main details[open]').count();

  test('leaves the brief in sight, and of each variant a line with its name, its verdict and one number', () =>
    with_page(whole, {}, async page => {
      assert.equal(await open_ones(page), 0);
      assert.ok(await page.locator('section[aria-labelledby="answer"] table').first().isVisible());
      assert.ok(await page.evaluate(() => document.documentElement.scrollHeight) < 9.5 * desk.height, 'it is quick to scan');
      const all = await variants(page).count();
      assert.equal(all, await page.locator('nav li details a').count());
      assert.ok(all >= 18);
      for (const summary of await variants(page).locator('> summary').all()) {
        const text = await summary.innerText();
        assert.match(text, /^.+ conv\/\w+\s+(ops|total)\s[\d.,]+\s(s|ms|µs)\s/, text);
        assert.match(await summary.locator('.headline').innerText(), /^(Yes|No|In part): |^A baseline itself$/);
        const box = await summary.boundingBox();
        assert.ok(box.height < 80, `it is ${box.height} tall`);
      }
      assert.equal(await page.locator('.variant table:visible').count(), 0);
    }));

  test('is undone for all or for the variants alone, and what is looked at stays in sight', () =>
    with_page(whole, {}, async page => {
      const whole_report = name => page.getByRole('button', { name: `${name}: the whole report`, exact: true });
      const of_variants = name => page.getByRole('button', { name: `${name}: Variants`, exact: true });
      await of_variants('Unfold all').scrollIntoViewIfNeeded();
      await of_variants('Unfold all').click();
      assert.equal(await page.locator('.variant > details:not([open])').count(), 0);
      assert.ok(await page.locator('details.part:not([open])').count() > 5, 'other parts stay folded');
      await whole_report('Unfold all').click();
      assert.equal(await page.locator('main details:not([open], .code, .samples)').count(), 0);
      assert.equal(await page.locator('.samples[open], .code[open]').count(), 0, 'these are asked for one by one');
      assert.equal(await page.locator('.announce').textContent(), 'the whole report unfolded');
      await page.locator('#conv-cudnn').evaluate(heading => heading.scrollIntoView());
      await page.evaluate(() => window.scrollBy(0, 600));
      await whole_report('Fold all').click();
      assert.equal(await open_ones(page), 0);
      const top = await page.locator('#conv-cudnn').evaluate(heading => heading.getBoundingClientRect().top);
      assert.ok(top > -5 && top < desk.height, `the variant that was read stands at ${top}`);
    }));

  test('a link to a variant unfolds it and no other, from the brief, from the contents and in an address', async () => {
    const only_open = async page => {
      assert.deepEqual(await page.locator('.variant > details[open] h3').evaluateAll(list => list.map(heading => heading.id)),
                       ['conv-cudnn']);
      const top = await page.locator('#conv-cudnn').evaluate(heading => heading.getBoundingClientRect().top);
      assert.ok(top > -5 && top < desk.height / 2, `it stands at ${top}`);
    };
    for (const where of ['.standings', 'nav']) {
      await with_page(whole, {}, async page => {
        await page.locator(`${where} a[href="#conv-cudnn"]`).first().click();
        await frames(page);
        await only_open(page);
      });
    }
    await with_page(whole, { hash: '#conv-cudnn' }, only_open);
  });

  test('the keyboard unfolds', () =>
    with_page('gpu/milestone.html', {}, async page => {
      const variant = variants(page).first();
      await variant.locator('> summary').focus();
      await page.keyboard.press('Enter');
      assert.ok(await variant.locator('table').first().isVisible());
      assert.ok(await variant.locator('> summary').evaluate(summary => getComputedStyle(summary).outlineStyle !== 'none'));
    }));

  // A test cannot open the browser's search; an address with a text goes the same way through what is folded.
  test('a text that is looked for is found in what is folded', () =>
    with_page(whole, { hash: '#:~:text=' + encodeURIComponent('What its author expected, against its baseline') }, async page => {
      await eventually(async () => assert.equal(await variants(page).evaluateAll(list => list.filter(one => one.open).length), 1));
      const found = page.locator('.variant > details[open] figcaption', { hasText: 'What its author expected' });
      const box = await found.first().boundingBox();
      assert.ok(box.y > 0 && box.y < desk.height, `it stands at ${box.y}`);
    }));

  test('the contents mark each part in turn while all is folded', () =>
    with_page(whole, {}, async page => {
      const marks = await page.evaluate(async () => {
        const marks = [], end = document.documentElement.scrollHeight - window.innerHeight;
        const frame = () => new Promise(done => requestAnimationFrame(done));
        for (let y = 0; y <= end; y += 20) {
          window.scrollTo({ top: y, behavior: 'instant' });
          await frame();
          await frame();
          const mark = document.querySelector('nav a[aria-current]').getAttribute('href');
          if (marks.at(-1) !== mark) marks.push(mark);
        }
        return marks;
      });
      const links = await page.locator('nav a').evaluateAll(list => list.map(link => link.getAttribute('href')));
      const own = await page.evaluate(() => [...document.querySelectorAll('nav a')].filter(link => {
        const part = document.getElementById(link.hash.slice(1)).closest('section');
        return part.querySelector('section') === null;  // a list of variants is marked by its variants
      }).map(link => link.getAttribute('href')));
      assert.deepEqual(marks.filter(mark => own.includes(mark)), own, 'in their order, none left out');
      for (const mark of marks) assert.ok(links.includes(mark));
    }));

  test('what a list leaves out is one click away, and in the page', () =>
    with_page(whole, { unfolded: true }, async page => {
      const more = page.locator('li.more details.more');
      assert.ok(await more.count() > 0);
      for (const details of await more.all()) {
        const summary = await details.locator('summary').innerText();
        assert.equal(await details.locator('li').count(), Number.parseInt(summary, 10), summary);
      }
      assert.doesNotMatch(await page.locator('main').innerText(), /smaller ones? (is|are) not shown/);
    }));
});

describe('a phone of 390 pixels', () => {
  for (const [name, heads] of [[whole, ['Variant', 'layer1 (ms)', 'layer2 (ms)', 'Sum (ms)']],
                               ['two_families/milestone.html', ['Variant', 'layer1', 'layer2', 'Sum']]]) {
    test(`shows each variant of ${name} with its three numbers, and says that there is more`, () =>
      with_page(name, { viewport: { width: 390, height: 844 }, drawn: true }, async page => {
        assert.ok(await overflow(page) <= 0, 'the page does not scroll sideways');
        const figure = page.locator('section[aria-labelledby="answer"] > figure.table').first();
        const cells = await figure.locator('tr').evaluateAll(rows => rows.map(row => [...row.cells].slice(0, 4).map(cell => {
          const box = cell.getBoundingClientRect(), content = document.createRange();
          content.selectNodeContents(cell);
          const inside = content.getBoundingClientRect();
          return { text: cell.textContent.trim(), right: Math.max(box.right, inside.right), left: inside.left };
        })));
        assert.deepEqual(cells[0].map(cell => cell.text.replace(/ ?\(?[mµ]?s\)?$/, '')), heads.map(head => head.replace(/ \(ms\)$/, '')));
        assert.ok(cells.length > 2);
        for (const row of cells) {
          for (const cell of row) assert.ok(cell.left >= 0 && cell.right <= 390, `${cell.text} ends at ${cell.right}`);
        }
        const scrolls = await figure.locator('.scroll').evaluate(box => box.scrollWidth > box.clientWidth);
        const cue = await figure.locator('.scroll').evaluate(box => getComputedStyle(box, '::before').content);
        assert.equal(/scroll sideways/.test(cue), scrolls, 'no column is out of sight silently');
        assert.ok(scrolls || name !== whole);
        assert.deepEqual(await serious_findings(page), []);
      }));
  }
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
    with_page(whole, { unfolded: true }, async page => {
      await page.locator('.switch').getByRole('radio', { name: 'layer2' }).check();
      assert.equal(await page.locator('#conv-op-time-1').isVisible(), false);
      await page.evaluate(() => { location.hash = 'conv-op-time-1'; });
      await page.locator('#conv-op-time-1').waitFor();
    }));

  test('of the contents say where the reader is', () =>
    with_page(whole, { unfolded: true }, async page => {
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
    with_page(whole, { unfolded: true }, async page => {
      const drawn = () => page.locator('.plot:visible').evaluateAll(plots => plots.map(plot => plot.querySelector('svg') !== null));
      assert.ok((await drawn()).includes(false), 'not all at once');
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      const plots = await page.locator('.plot:visible').all();
      await plots[plots.length - 1].evaluate(plot => plot.scrollIntoView());
      await plots[plots.length - 1].locator('svg').waitFor();
      await page.evaluate(() => window.mprof_draw_all());
      assert.ok(!(await drawn()).includes(false));
      assert.equal(await page.evaluate(() => document.documentElement.scrollHeight), height, 'their place is kept free');
    }));
});

describe('raw samples', () => {
  test('are drawn when they are unfolded, round by round, and each says its time', () =>
    with_page('healthy/milestone.html', { unfolded: true }, async page => {
      const details = page.locator('details.samples').first(), plot = details.locator('.plot').first();
      assert.equal(await plot.locator('svg').count(), 0);
      await details.locator('summary').click();
      await plot.locator('svg').waitFor();
      const texts = await plot.locator('svg text').allTextContents();
      assert.ok(texts.some(text => /: median .* samples$/.test(text)), `${texts}`);
      for (const text of ['round 1', 'round 2', 'round 3', 'Samples in the order taken']) assert.ok(texts.includes(text), text);
      await plot.locator('svg path[fill="#0b62b0"]').last().hover({ force: true });
      await eventually(async () => assert.match(await plot.innerText(), /[mµn]?s, [+−]?[\d.]+\s%/));
    }));
});

describe('paper', () => {
  test('has everything: all charts in light, all that is folded, no control; and the page is as before afterwards', () =>
    with_page(whole, { colorScheme: 'dark' }, async page => {
      const open = () => page.locator('main details').evaluateAll(list => list.map(details => details.open));
      const before = await open();
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
      await page.emulateMedia({ media: 'print' });
      assert.equal(await page.locator('main details:not([open], .samples)').count(), 0);
      assert.equal(await page.locator('.samples:visible').count(), 0, 'raw samples stay away');
      const text = await page.locator('.plot:visible').evaluateAll(plots => plots.map(plot => plot.querySelector('svg text')?.getAttribute('fill')));
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
    with_page(whole, { unfolded: true }, async page => {
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
    assert.equal(await page.locator('[data-problem]:visible').count(), 0, 'parts are folded');
    for (const summary of await page.locator('.part > summary').all()) await summary.click();
    for (const part of await page.locator('[data-problem]').all()) assert.ok(await part.isVisible());
    const variant = page.locator('.variant > details').first();
    assert.equal(await variant.locator('table').first().isVisible(), false);
    await variant.locator('summary').first().click();
    assert.ok(await variant.locator('table').first().isVisible());
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
  with_page('gpu/milestone.html', { unfolded: true }, async page => {
    assert.equal(await page.locator('nav a', { hasText: 'Compute Sanitizer: conv' }).count(), 1);
    const table = page.locator('figure', { hasText: 'What compute-sanitizer found' }).first();
    const row = name => table.locator('tbody tr', { hasText: name }).locator('td').allInnerTexts();
    assert.deepEqual(await row('conv/baseline'), ['conv/baseline', '3 errorsa', 'failedb', 'time limitc', 'skippedd']);
    assert.deepEqual(await row('conv/streams'), ['conv/streams', 'clean', 'cleane', 'clean', 'clean']);
    assert.match(await page.locator('.findings .wrong').first().innerText(), /compute-sanitizer \(memcheck\) found 3 errors/);
  }));

describe('sweeps', () => {
  const plot = (page, id) => page.locator(`[data-chart="${id}"]`);

  /// Where the marks of a curve's series are, from left to right.
  const hover_at = async (page, chart, fraction) => {
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    await page.mouse.move(box.x + box.width * fraction, box.y + box.height / 2);
  };

  test('draw a line, the default and a cross with its reason', () =>
    with_page('swept/milestone.html', { unfolded: true, drawn: true }, async page => {
      const texts = await plot(page, 'conv-tiled-sweep-layer1').locator('svg text').allTextContents();
      for (const text of ['4', '8', '16', '32', '64', 'default', 'wrong, crashed', 'batch 1000', 'batch 10000']) {
        assert.ok(texts.includes(text), `${text} is not among ${texts}`);
      }
      const lines = await plot(page, 'conv-tiled-sweep-layer1').locator('svg path[fill="none"][stroke="#0b62b0"]').count();
      assert.ok(lines > 0);
    }));

  test('draw no line between words', () =>
    with_page('swept/milestone.html', { unfolded: true, drawn: true }, async page => {
      const widths = await plot(page, 'conv-precision-sweep-layer1').evaluate(
          chart => [...chart.querySelectorAll('path[fill="none"][stroke="#0b62b0"]')]
              .filter(path => path.getBBox().width > 50).map(path => Number(path.getAttribute('stroke-width') ?? 1)));
      assert.deepEqual(widths.filter(width => width > 0), []);
    }));

  test('say all batches of a value that is pointed at, those without a time too', () =>
    with_page('swept/milestone.html', { unfolded: true, drawn: true }, async page => {
      const chart = plot(page, 'conv-tiled-sweep-layer1');
      await hover_at(page, chart, 0.54);
      await eventually(async () => assert.match(await chart.innerText(), /tile_width=16[\s\S]*batch 1000: 130\.0\s*ms[\s\S]*batch 10000: 1\.000\s*s[^\n]*the lowest median/));
      await hover_at(page, chart, 0.88);
      await eventually(async () => assert.match(await chart.innerText(), /tile_width=64[\s\S]*the output is wrong[\s\S]*crashed: the worker ended/));
    }));

  test('have a cell for each pair of values', () =>
    with_page('swept/milestone.html', { unfolded: true, drawn: true }, async page => {
      const chart = plot(page, 'conv-matrix-sweep-layer1-10000');
      const texts = await chart.locator('svg text').allTextContents();
      for (const text of ['8x4', '16x16', '24', '900', 'crashed', 'not run']) {
        assert.ok(texts.includes(text), `${text} is not among ${texts}`);
      }
      await chart.locator('svg path[fill="#0b4a86"]').first().hover({ force: true });
      await eventually(async () =>
        assert.match(await chart.innerText(), /tile_width=24,block=8x8[\s\S]*900\.0\s*ms[^\n]*the lowest median/));
    }));

  test('have shades whose order is one of lightness, and figures that stand out from them', () =>
    with_page('swept/milestone.html', { unfolded: true }, async page => {
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
    await with_page('swept/milestone.html', { unfolded: true }, async page => {
      assert.equal(await page.locator('nav a[href="#conv-sweeps"]').count(), 1);
      assert.equal(await page.locator('section.sweep').count(), 5);
    });
    await with_page('run_a/milestone.html', {}, async page => {
      assert.equal(await page.locator('nav a', { hasText: 'Sweeps' }).count(), 0);
      assert.equal(await page.locator('section.sweep').count(), 0);
    });
  });
});
