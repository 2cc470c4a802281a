// SPDX-License-Identifier: MIT
// The drawing of a step: with the mouse, with the keyboard, on paper and without a script.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browser, desk, folder, overflow, phone, serious_findings, with_page } from './browser.mjs';

const program = 'program/milestone.html';
const figure = page => page.locator('figure.step');
const part = page => figure(page).locator('output').innerText();
const blocks = page => figure(page).locator('.live rect[class^="p"]').count();

describe('one step, drawn', () => {
  for (const [size, viewport, colorScheme] of [['phone', phone, 'dark'], ['desk', desk, 'light']]) {
    test(`fits a ${size} and is accessible in ${colorScheme}`, () => with_page(program, { viewport, colorScheme }, async page => {
      assert.ok(await overflow(page) <= 0);
      assert.ok(await blocks(page) > 100);
      assert.equal(await figure(page).locator('.still').isVisible(), false);
      assert.deepEqual(await serious_findings(page, 'figure.step'), []);
      assert.deepEqual(await serious_findings(page, '.tree'), []);
      const black = await figure(page).locator('.legend rect').evaluateAll(all =>
        all.filter(one => getComputedStyle(one).fill === 'rgb(0, 0, 0)').length);
      assert.equal(black, 0, 'each kind has a colour');
    }));
  }

  test('zooms and moves by its buttons and by the keyboard', () => with_page(program, {}, async page => {
    const whole = await part(page);
    await figure(page).getByRole('button', { name: 'Zoom in' }).click();
    const closer = await part(page);
    assert.notEqual(closer, whole);
    await figure(page).locator('.live').focus();
    await page.keyboard.press('-');
    assert.equal(await part(page), whole);
    await page.keyboard.press('+');
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await part(page), closer);
    await page.keyboard.press('0');
    assert.equal(await part(page), whole);
    await figure(page).getByRole('button', { name: 'All' }).click();
    assert.match(await part(page), /^−/, 'what the host did before the step is there');
  }));

  test('finds kernels and says what they are, and by which call', () => with_page(program, {}, async page => {
    const search = figure(page).getByRole('searchbox');
    await search.fill('bn_bw');
    assert.match(await part(page), /\d+ found\.$/);
    await search.press('Enter');
    assert.match(await part(page), /1 of \d+ found|\d+ of \d+ found/);
    const said = figure(page).locator('.pointed');
    assert.match(await said.innerText(), /bn_bw.* \(normalization\), GPU, Stream 7: .*Launched .* before the step by cudaLaunchKernel/);
    const first = await said.innerText();
    await search.press('Enter');
    assert.notEqual(await said.innerText(), first);
    assert.equal(await figure(page).locator('.chosen-block').count(), 1);
    assert.ok(await figure(page).locator('.live .j').count() >= 1, 'it is joined to its launch');
    await search.fill('no such thing');
    assert.match(await part(page), /Nothing found\.$/);
  }));

  test('says what is pointed at, and is dragged', () => with_page(program, {}, async page => {
    const plot = figure(page).locator('.live');
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox(), before = await part(page);
    const row = await plot.locator('text', { hasText: 'Stream 7' }).boundingBox();
    await page.mouse.move(box.x + box.width / 2, row.y + row.height / 2);
    assert.match(await figure(page).locator('.pointed').innerText(), /Stream 7/);
    await page.keyboard.press('Tab');
    await figure(page).getByRole('button', { name: 'Zoom in' }).click();
    const zoomed = await part(page);
    await plot.scrollIntoViewIfNeeded();
    await page.mouse.move(box.x + box.width / 2, row.y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 100, row.y, { steps: 3 });
    await page.mouse.up();
    assert.notEqual(await part(page), zoomed);
    assert.notEqual(zoomed, before);
  }));

  test('is a still picture on paper', () => with_page(program, {}, async page => {
    await page.emulateMedia({ media: 'print' });
    assert.ok(await figure(page).locator('.still svg').isVisible());
    assert.equal(await figure(page).locator('.live').isVisible(), false);
    assert.ok(await figure(page).locator('.still rect').count() > 100);
  }));

  test('is a still picture without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: desk });
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(folder, program)).href);
    assert.ok(await figure(page).locator('.still svg').isVisible());
    assert.equal(await figure(page).locator('button:visible, input:visible').count(), 0);
    const box = await figure(page).locator('.still svg').boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= desk.width);
    await context.close();
  });
});

test('the tree of ranges says what each takes, and what other threads launched for it', () => with_page(program, {}, async page => {
  const tree = page.locator('.tree');
  assert.match(await tree.innerText(), /backward[\s\S]*36\.57\sms/);
  assert.match(await tree.innerText(), /another thread launched/);
}));
