import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { toOpenApi } from '../../src/contract/openapi/openapi.ts';

/** Every pattern of the document, once. */
const patterns = [...new Set(collect(toOpenApi()))].sort();

/** Texts of which some match and some do not; none holds a lone surrogate, which other languages have no word for. */
const samples = [
  ...['', ' ', 'a', 'PpCcSs{}u', 'prod_01jd7q3v6ye2wb8x5k9m4n0r7t', 'Zoë \u{1f512} \u05d0', 'a key', 'key '],
  ...['a\u0000b', 'a\nb', '\u007f', 'x\u0085', '\u00a0', '1', '01', '999999999', 'P1Y', 'PT'],
  ...['2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00+01:00', 'it@ada.example', 'it@@ada'],
];

const python = spawnSync('python3', ['--version']).status === 0;

describe('the patterns of the document', () => {
  it.each(patterns)('mean the same with and without the flag u: %s', (pattern) => {
    const [plain, unicode] = [new RegExp(pattern), new RegExp(pattern, 'u')];
    for (const sample of samples) expect([sample, unicode.test(sample)]).toEqual([sample, plain.test(sample)]);
  });

  it.each(patterns)('use nothing that only some languages know: %s', (pattern) => {
    expect(pattern).not.toMatch(/\\[pPkuc/]|\(\?<|\\[0-9]/);
  });

  it.skipIf(!python)('compile in Python, and mean the same there', () => {
    const script = [
      'import json, re, sys',
      'data = json.load(sys.stdin)',
      "print(json.dumps([[re.search(p, s) is not None for s in data['samples']] for p in data['patterns']]))",
    ].join('\n');
    const { stdout, stderr } = spawnSync('python3', ['-c', script], { input: JSON.stringify({ patterns, samples }) });
    expect(stderr.toString()).toBe('');
    const verdicts = patterns.map((pattern) => samples.map((sample) => new RegExp(pattern, 'u').test(sample)));
    expect(JSON.parse(stdout.toString())).toEqual(verdicts);
  });
});

function collect(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'pattern' in value && typeof value.pattern === 'string' ? [value.pattern] : [];
  return [...own, ...Object.values(value).flatMap(collect)];
}
