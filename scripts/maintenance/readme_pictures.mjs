// SPDX-License-Identifier: MIT
// Makes what README.md shows of a report: pictures of its page, light and dark, and the top of its table. The report is that of
// the newest run of all variants below results/. Write it first: `mprof report results/all && node scripts/maintenance/readme_pictures.mjs`.
// Needs Chromium, on the PATH or named by CHROMIUM, and `npm ci`.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const source = fileURLToPath(new URL('../..', import.meta.url));
export const sample = newest_of_all_variants(join(source, 'results'));
export const pictures = join(source, 'docs/pictures');
export const made_from = join(pictures, 'made-from.sha256');
const begin = '<!-- from the brief, by scripts/maintenance/readme_pictures.mjs -->\n', end = '<!-- end of the brief -->\n';

export const digest = file => createHash('sha256').update(readFileSync(file)).digest('hex');

/** The newest run of all variants in this folder. Its plan takes every variant of several families and sweeps no parameter. */
export function newest_of_all_variants(results) {
  const runs = readdirSync(results).filter(name => existsSync(join(results, name, 'run.json')))
      .map(name => ({ folder: join(results, name), run: JSON.parse(readFileSync(join(results, name, 'run.json'), 'utf8')) }))
      .filter(({ run }) => run.command_line.includes('--all') && (run.families ?? []).length > 1)
      .filter(({ run }) => Object.keys(run.plan.settings ?? {}).length === 0)
      .sort((a, b) => b.run.started.localeCompare(a.run.started));
  if (runs.length === 0) throw new Error(`${results} has no run of all variants; make one with: mprof run --all --out ${results}/all`);
  return runs[0].folder;
}

const cells_of = line => line.split('|').slice(1, -1).map(cell => cell.replace(/<sup>.*<\/sup>/, '').trim());

/**
 * Part of the first answer's table: the three fastest variants, the one with the shortest total, NVIDIA's cuDNN, and the baseline.
 * Of its columns those that a reader of README.md needs.
 */
export function top_of_brief() {
  const lines = readFileSync(join(sample, 'brief.md'), 'utf8').split('\n');
  const start = lines.findIndex(line => line.startsWith('| Variant ')), end = lines.findIndex((line, i) => i > start && line === '');
  const [head, , ...rows] = lines.slice(start, end).map(cells_of);
  const columns = ['Variant', 'layer1 (ms)', 'layer2 (ms)', 'Over baseline', 'Total (ms)', 'Accuracy'].map(name => head.indexOf(name));
  if (columns.includes(-1)) throw new Error(`the table of ${sample}/brief.md has the columns ${head.join(', ')}`);
  const total = row => Number(row[columns[4]].replaceAll(',', '')), quickest = rows.reduce((a, b) => (total(b) < total(a) ? b : a));
  const shown = rows.filter((row, i) => i < 3 || row === quickest || ['cudnn', 'baseline'].includes(row[0]));
  const line = row => `| ${columns.map(column => row[column]).join(' | ')} |\n`;
  return line(head) + `|---|${'---:|'.repeat(columns.length - 1)}\n` + shown.map(line).join('');
}

/** The text between the two marks in README.md; null without them. */
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
  if (old === null) throw new Error(`${file} lacks the marks between which the table of the brief stands`);
  await take_pictures();
  writeFileSync(file, readme.replace(begin + old, begin + top_of_brief()));
  console.log(`${relative(source, pictures)} and README.md show what ${relative(source, sample)} says.`);
}
