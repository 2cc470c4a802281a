// SPDX-License-Identifier: MIT
// Every page, narrow and wide, light and dark.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { charts, contrast_findings, desk, frames, overflow, phone, said, serious_findings, unfold, with_page } from './browser.mjs';

/// All of the report and the first variant's raw samples.
const unfold_all = async page => {
  await unfold(page);
  if (await page.locator('details.samples').count() > 0)
    await page.locator('details.samples').first().evaluate(details => { details.open = true; });
  await page.evaluate(() => window.mprof_draw_all());
};

const fit = async (page, viewport) => {
  assert.ok(await overflow(page) <= 0, 'no horizontal scrolling of the page');
  for (const chart of await charts(page)) {
    assert.ok(chart.width > 0 && chart.width <= viewport.width, `${chart.id} is ${chart.width} wide`);
    // An axis of steps names some of them. The line of a curve has one vertex where points share a pixel.
    assert.ok(chart.kind === 'history' ? chart.named >= 2 : chart.texts >= chart.rows, `${chart.id} names its rows`);
    const drawn = chart.kind === 'memory' ? chart.vertices > 2 && 2 * chart.vertices >= chart.longest : chart.marks >= chart.points;
    assert.ok(drawn && chart.points > 0, `${chart.id} draws its points`);
    assert.ok(!chart.paged, `${chart.id} has its whole legend in sight`);
  }
};

for (const name of ['run_a', 'run_b', 'h200', 'program', 'solver', 'troubled', 'gpu', 'hostile', 'empty', 'large', 'swept', 'two_families']) {
  test(`${name} fits a phone`, () => with_page(`${name}/milestone.html`, { viewport: phone, drawn: true }, async page => {
    assert.ok(await overflow(page) <= 0, 'no horizontal scrolling of the folded page');
    await unfold_all(page);
    await fit(page, phone);
  }));

  test(`${name} fits a desk, and is accessible in light and dark`, () => with_page(`${name}/milestone.html`, { drawn: true }, async page => {
    assert.ok(await overflow(page) <= 0, 'no horizontal scrolling of the folded page');
    assert.deepEqual(await serious_findings(page), [], 'folded');
    await unfold_all(page);
    await fit(page, desk);
    assert.deepEqual(await serious_findings(page), []);
    await page.emulateMedia({ colorScheme: 'dark' });
    await frames(page);
    assert.deepEqual(await contrast_findings(page), [], 'dark');
  }));
}

for (const [name, viewport] of [['gpu', phone], ['gpu', desk], ['hostile', phone]]) {
  test(`${name}: folded evidence opens, fits ${viewport.width} pixels and is accessible`, () =>
    with_page(`${name}/milestone.html`, { viewport }, async page => {
      await page.locator('summary', { has: page.locator('#evidence') }).click();
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

describe('comparison', () => {
  for (const [size, viewport, colorScheme] of [['phone', phone, 'dark'], ['desk', desk, 'light']]) {
    test(`fits a ${size}, is accessible in ${colorScheme}, and draws its charts`, () =>
      with_page('compare.html', { viewport, colorScheme, drawn: true }, async page => {
        assert.ok(await overflow(page) <= 0);
        assert.ok(await page.locator('table').count() >= 3);
        const drawn = await charts(page);
        assert.deepEqual([...new Set(drawn.map(chart => chart.kind))], ['forest', 'dumbbells', 'strip']);
        for (const chart of drawn) {
          assert.ok(chart.width > 0 && chart.width <= viewport.width, `${chart.id} is ${chart.width} wide`);
          assert.ok(chart.texts >= chart.rows && chart.marks >= chart.points && !chart.paged, chart.id);
        }
        assert.deepEqual(await serious_findings(page), []);
      }));
  }

  test('filters its charts by verdict and by words, and says so', () =>
    with_page('compare.html', { drawn: true }, async page => {
      const section = page.locator('section[data-filter]'), strips = page.locator('.charts figure.chart');
      const rows = () => page.locator('[data-chart="changes"] svg text').allTextContents();
      const all = await rows(), cases = await strips.count();
      await section.getByRole('radio', { name: 'slower' }).check();
      assert.match(await section.locator('output').innerText(), /^1 of \d\d times$/);
      assert.ok((await rows()).includes('cpu_threads@1000') && !(await rows()).includes('cpu_onednn@1000'));
      assert.equal(await strips.filter({ visible: true }).count(), 1);
      assert.match(await section.innerText(), /charts hidden by the filter/);
      await section.getByRole('searchbox').fill('onednn');
      assert.equal(await page.locator('figure.chart:visible').count(), 0, 'none of oneDNN is slower');
      assert.match(await said(page), /^0 of \d\d times$/);
      await section.getByRole('button', { name: 'Show all' }).click();
      assert.deepEqual(await rows(), all);
      assert.equal(await strips.filter({ visible: true }).count(), cases);
      assert.equal(await section.locator('output').innerText(), '');
    }));
});

describe('fleet', () => {
  for (const [size, viewport, colorScheme] of [['phone', phone, 'dark'], ['desk', desk, 'light'], ['desk', desk, 'dark']]) {
    test(`fits a ${size} in ${colorScheme}, and draws its map`, () => with_page('fleet.html', { viewport, colorScheme, drawn: true }, async page => {
      assert.ok(await overflow(page) <= 0);
      const [map, ...others] = await charts(page);
      assert.equal(others.length, 0);
      assert.equal(map.kind, 'fleet_map');
      assert.ok(map.width > 0 && map.width <= viewport.width && map.texts >= map.rows && map.marks >= map.points && !map.paged);
      assert.equal(map.rows, 40);
      assert.match(await page.locator('main').innerText(), /node7: SLOW/);
      assert.equal(await page.locator('#machines-of-fake-gpu tbody tr').count(), 60);
      assert.deepEqual(await serious_findings(page), []);
    }));
  }
});

describe('ranks', () => {
  for (const [size, viewport, colorScheme] of [['phone', phone, 'dark'], ['desk', desk, 'light'], ['desk', desk, 'dark']]) {
    test(`fits a ${size} in ${colorScheme}, and draws its map and its slowest step`, () => with_page('ranks.html', { viewport, colorScheme, drawn: true }, async page => {
      assert.ok(await overflow(page) <= 0);
      const [map, ...others] = await charts(page);
      assert.equal(others.length, 0);
      assert.equal(map.kind, 'rank_map');
      assert.ok(map.width > 0 && map.width <= viewport.width && map.texts >= 2 && map.marks >= map.points && !map.paged);
      assert.equal(map.rows, 24);
      assert.match(await page.locator('main').innerText(), /Rank 5 is late/);
      assert.ok(await page.locator('svg.ranks-step path.arrow').count() >= 4);
      assert.equal(await page.locator('#ranks tbody tr').count(), 24);
      assert.deepEqual(await serious_findings(page), []);
    }));
  }
});

describe('history', () => {
  for (const [size, viewport] of Object.entries({ phone, desk })) {
    test(`fits a ${size}`, () => with_page('history.html', { viewport, drawn: true }, async page => {
      assert.ok(await overflow(page) <= 0);
      const drawn = await charts(page);
      assert.equal(drawn.length, 1);
      assert.ok(drawn[0].marks >= drawn[0].points && drawn[0].points > 0, 'it draws its points');
      assert.ok(!drawn[0].paged, 'its whole legend is in sight');
      assert.match(await page.locator('[data-chart]').textContent(), /\+[23]\.\d\s%/, 'and says where a time changed');
      assert.deepEqual(await serious_findings(page), []);
    }));
  }
});
