// What README.md shows of the sample report, made from it: pictures of its page, light and dark, and the head of its brief.
// Run after the sample was rendered anew: `mprof report results/h200-all-2026-11-21 && node scripts/maintenance/readme_pictures.mjs`.
// Needs Chromium, on the PATH or named by CHROMIUM, and `npm ci`.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const source = fileURLToPath(new URL('../..', import.meta.url));
export const sample = join(source, 'results/h200-all-2026-11-21');
export const pictures = join(source, 'docs/pictures');
export const made_from = join(pictures, 'made-from.sha256');
const begin = '<!-- the head of the brief, by scripts/maintenance/readme_pictures.mjs -->\n', end = '<!-- end of the brief -->\n';

export const digest = file => createHash('sha256').update(readFileSync(file)).digest('hex');

/** The sentences of the first answer. */
export function head_of_brief() {
  const brief = readFileSync(join(sample, 'brief.md'), 'utf8');
  const from = brief.indexOf('\n- ', brief.indexOf('\n## The answer')) + 1;
  return brief.slice(from, brief.indexOf('\n\n', from) + 1);
}

/** What stands in README.md between the two marks; null without them. */
export function shown_brief(readme) {
  const from = readme.indexOf(begin), to = readme.indexOf(end);
  return from < 0 || to < 0 ? null : readme.slice(from + begin.length, to);
}

async function take_pictures() {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  mkdirSync(pictures, { recursive: true });
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme });
    await page.goto(pathToFileURL(join(sample, 'milestone.html')).href);
    await page.waitForTimeout(1000);
    await page.screenshot({ path: join(pictures, `report-${colorScheme}.png`) });
  }
  await browser.close();
  writeFileSync(made_from, digest(join(sample, 'milestone.html')) + '\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = join(source, 'README.md'), readme = readFileSync(file, 'utf8'), old = shown_brief(readme);
  if (old === null) throw new Error(`${file} lacks the marks between which the head of the brief stands`);
  await take_pictures();
  writeFileSync(file, readme.replace(begin + old, begin + head_of_brief()));
  console.log(`${dirname(made_from)} and README.md show what ${sample} says.`);
}
