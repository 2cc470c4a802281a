// Cuts a few variants at one batch out of a recorded run, for a golden file of a bearable size:
//
//     node tests/golden/excerpt.mjs RUN_DIR BATCH VARIANT... > tests/golden/NAME/run.json
//
// Cases, variants and plan are cut, and the state is that of the cases that are left. Nothing else is changed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/// Like mprof writes it: what holds only plain values is one line.
function text_of(value, indent) {
  const is_flat = value === null || typeof value !== 'object' || Object.values(value).every(v => typeof v !== 'object');
  if (is_flat && (Array.isArray(value) || value?.metric === undefined)) return JSON.stringify(value);
  const inner = indent + '  ', list = Array.isArray(value);
  const one_line = value.metric !== undefined;
  const parts = Object.entries(value).map(([key, v]) => (list ? '' : `${JSON.stringify(key)}: `) + text_of(v, inner));
  if (one_line) return `{${parts.join(', ')}}`;
  return `${list ? '[' : '{'}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${list ? ']' : '}'}`;
}

const [directory, batch, ...variants] = process.argv.slice(2);
const run = JSON.parse(readFileSync(join(directory, 'run.json'), 'utf8'));
run.cases = run.cases.filter(c => variants.includes(c.key.variant) && c.key.batch === Number(batch));
run.variants = run.variants.filter(variant => variants.includes(variant.id));
run.plan.variants = run.plan.variants.filter(id => variants.includes(id));
run.plan.batches = [Number(batch)];
const is_open = pass => ['pending', 'interrupted'].includes(pass.status);
if (!run.cases.some(c => c.passes.some(is_open))) run.state = 'complete';
process.stdout.write(text_of(run, '') + '\n');
