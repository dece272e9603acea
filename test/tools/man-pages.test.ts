import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commandEntries } from '../../src/cli/tree.ts';
import { manPages, writeManPages } from '../../tools/man-pages.ts';
import { hasProgram } from '../support/terminal.ts';

const pages = await manPages('1.2.3');
const folder = mkdtempSync(join(tmpdir(), 'lkm-man-'));
beforeAll(() => writeManPages(folder, '1.2.3'));

const names = pages.map(({ file }) => file);

describe('the manual', () => {
  it('has a page for every command and every topic', () => {
    expect(names).toEqual(
      expect.arrayContaining(commandEntries.map(({ path }) => `lkm-${path.replaceAll(' ', '-')}.1`)),
    );
    expect(names).toEqual(expect.arrayContaining(['lkm.1', 'lkm-exit-codes.7', 'lkm-environment.7']));
    expect(new Set(names).size).toBe(names.length);
  });

  it('begins no section, and no indented block, with an empty paragraph', () => {
    for (const { file, text } of pages) expect(text.match(/^\.SH .*\n\.PP$|^\.PP\n\./m), file).toBeNull();
  });

  it('names only pages that there are, and takes no line of text for a request', () => {
    for (const { file, text } of pages) {
      const named = [...text.matchAll(/^\.BR (\S+) \((\d)\)/gm)].map(
        ([, name = '', section]) => `${name.replaceAll('\\-', '-')}.${section}`,
      );
      expect(
        named.filter((name) => !names.includes(name)),
        file,
      ).toEqual([]);
      const requests = Array.from(text.matchAll(/^[.']\s*(\S*)/gm), ([, name = '']) => name);
      expect(
        requests.filter((name) => !/^(TH|SH|B|I|BR|PP|TP|RS|RE|nf|fi)$/.test(name)),
        file,
      ).toEqual([]);
    }
  });
});

describe.runIf(hasProgram('man'))('man', () => {
  const render = (file: string) =>
    spawnSync('man', ['--warnings', '-E', 'UTF-8', '-l', join(folder, file)], {
      env: { PATH: process.env.PATH, MANWIDTH: '80', LANG: 'C.UTF-8', MANROFFSEQ: '' },
      encoding: 'utf8',
    });

  it.each(['lkm.1', 'lkm-keys-create.1', 'lkm-serve.1', 'lkm-api.1', 'lkm-exit-codes.7', 'lkm-formatting.7'])(
    'renders %s',
    (file) => {
      const { stdout, status } = render(file);
      expect(status).toBe(0);
      expect(stdout).toContain('lkm 1.2.3');
    },
  );

  it('shows what a command does, its options and its examples as they are typed', () => {
    const text = render('lkm-keys-create.1').stdout;
    expect(text).toMatch(/^NAME\n +lkm-keys-create - issue a licence key$/m);
    expect(text).toMatch(/^SYNOPSIS\n +lkm keys create \[options\]$/m);
    expect(text).toMatch(/^ +-P, --product ID\n +the product, by its id or name \(LKM_PRODUCT\)$/m);
    expect(text).toContain('$ KEY=$(lkm keys create -P "$ID" --max-activations 5 --expires 1y)');
  });
});

describe.runIf(hasProgram('mandoc'))('mandoc', () => {
  it.each(pages)('finds no error in $file', ({ file }) => {
    expect(spawnSync('mandoc', ['-Tlint', '-Werror', join(folder, file)], { encoding: 'utf8' }).stdout).toBe('');
  });
});
