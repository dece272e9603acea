import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { renderTable } from '../../src/cli/output/table.ts';
import { plain } from '../../src/cli/output/terminal.ts';
import { commandEntries } from '../../src/cli/tree.ts';
import { lkm } from './fake-io.ts';
import { openShop } from './shop.ts';

describe('every command', () => {
  /** Their result is a document, or it goes on until it is stopped. */
  const withoutFields = ['api', 'completion', 'keys export', 'revocations export', 'signing-keys export'];

  it('has fields, so that no format is empty', async () => {
    const commands = await Promise.all(commandEntries.map(({ load }) => load()));
    const bare = commands.filter(({ fields = [] }) => fields.length === 0).map(({ path }) => path);
    expect(bare.filter((path) => !withoutFields.includes(path))).toEqual([]);
  });
});

describe('a command that only succeeds', () => {
  it.each([
    ['csv', 'name,value,profile\nformat,json,\n'],
    ['json', '{"name":"format","value":"json","profile":null}\n'],
    ['jsonl', '{"name":"format","value":"json","profile":null}\n'],
    ['tsv', ''],
    ['table', ''],
  ])('says as %s what it did', async (format, stdout) => {
    expect((await lkm(['config', 'set', 'format', 'json', '--format', format])).stdout).toBe(stdout);
  });

  it('shows the fields that are asked for, in any format', async () => {
    expect((await lkm(['config', 'set', 'format', 'json', '--fields', 'value,name'])).stdout).toBe('json\tformat\n');
  });
});

describe('a text for people', () => {
  it('has its fields for a spreadsheet', async () => {
    const csv = (await lkm(['explain', 'email_taken', '--format', 'csv', '--fields', 'error,status,code'])).stdout;
    expect(csv).toBe('error,status,code\nemail_taken,409,2\n');
  });

  it('is a text in a pipe, unless fields are asked for', async () => {
    expect((await lkm(['explain', 'email_taken'])).stdout).toMatch(/^email_taken\n {2}answer/);
    expect((await lkm(['explain', 'email_taken', '--fields', 'code'])).stdout).toBe('2\n');
  });
});

describe('a table of many rows', () => {
  it('has the same columns on all its lines, as wide as the widest cell of any', () => {
    const rows = Array.from({ length: 450 }, (_, at) => ({
      id: at === 449 ? 'the-widest-of-all' : `row-${at}`,
      name: 'Ada',
      n: at,
    }));
    const fields = [{ name: 'id' }, { name: 'name' }, { name: 'n', isNumber: true }];
    const lines = renderTable(fields, rows, { columns: 80, now: 0, paint: plain }).trimEnd().split('\n');
    const width = 'the-widest-of-all'.length;
    expect(lines).toEqual([
      `${'ID'.padEnd(width)}  NAME    N`,
      ...rows.map(({ id, n }) => `${id.padEnd(width)}  Ada   ${String(n).padStart(3)}`),
    ]);
  });
});

describe('the status of a key', () => {
  it('has a color on a terminal, in a list and of one, and none where colors are not wanted', async () => {
    const { at, names, answer } = await openShop();
    names.KEY = await answer('keys create');
    await answer('keys block KEY');
    const terminal = { terminal: true, env: { NO_COLOR: '', TERM: 'xterm' } };
    expect((await at('keys list', terminal)).stdout).toContain('  \u001b[31mblocked\u001b[39m  ');
    expect((await at('keys get KEY', terminal)).stdout).toContain('  \u001b[31mblocked\u001b[39m\n');
    expect((await at('keys get KEY', { terminal: true })).stdout).toMatch(/^status +blocked$/m);
    await answer('keys unblock KEY');
    await answer('keys sign KEY --host-id host-1 -o -');
    expect((await at('keys list', terminal)).stdout).toContain('  \u001b[32mactive\u001b[39m  ');
  });
});

describe('a column that is cut', () => {
  const family = '👩‍👩‍👧‍👦';
  const shown = (text: string): string => {
    const fields = [{ name: 'id' }, { name: 'name', cuts: true }];
    const rows = [{ id: 'x'.repeat(20), name: text }];
    const view = { columns: 32, now: 0, paint: plain };
    return renderTable(fields, rows, view).split('\n')[1]?.slice(22) ?? '';
  };

  it.each([
    ['plain letters only', 'plain let…'],
    [`${family.repeat(9)}`, `${family.repeat(4)}…`],
    ['株式会社ソフト開発', '株式会社…'],
    ['e\u0301'.repeat(20), `${'e\u0301'.repeat(9)}…`],
  ])('is cut between characters: %s', (text, expected) => {
    expect(shown(text)).toBe(expected);
    expect(stringWidth(shown(text))).toBeLessThanOrEqual(10);
  });
});
