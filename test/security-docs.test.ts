import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tokenPattern } from '../src/domain/token.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
const page = read('docs/security.md');
const rows = page.split('\n').filter((line) => /^\| [A-Z`]/.test(line));

describe('docs/security.md', () => {
  it('names for every control a test that is there, and a requirement', () => {
    const faulty = rows.filter((row) => {
      const [, control = '', tests = '', standard = ''] = row.split('|').map((cell) => cell.trim());
      const files = [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path);
      const isThere = files.length > 0 && files.every((path) => existsSync(join(import.meta.dirname, '..', path)));
      return (
        control === '' ||
        !isThere ||
        !/^(API(10|[1-9])|\d+\.\d+\.\d+)(, (API(10|[1-9])|\d+\.\d+\.\d+))*$/.test(standard)
      );
    });
    expect(faulty).toEqual([]);
    expect(rows.length).toBeGreaterThan(40);
  });

  it('has a control for every risk of the list', () => {
    const risks = new Set([...page.matchAll(/\bAPI(10|[1-9])\b/g)].map(([, number]) => Number(number)));
    expect([...risks].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('shows the pattern of tokens as it is', () => {
    expect(page).toContain(`\n${tokenPattern}\n`);
  });

  it('is where SECURITY.md points to', () => {
    expect(read('SECURITY.md')).toContain('(docs/security.md)');
  });
});
