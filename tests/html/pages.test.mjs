// Every page, narrow and wide, light and dark.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { charts, desk, overflow, phone, serious_findings, with_page } from './browser.mjs';

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

describe('comparison', () => {
  for (const [size, viewport] of Object.entries({ phone, desk })) {
    test(`fits a ${size}`, () => with_page('compare.html', { viewport }, async page => {
      assert.ok(await overflow(page) <= 0);
      assert.ok(await page.locator('table').count() >= 3);
      assert.deepEqual(await serious_findings(page), []);
    }));
  }
});
