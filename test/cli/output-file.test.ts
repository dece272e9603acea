import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, type Surroundings, says, tempFolder } from './fake-io.ts';
import { customer, issued, KEY, listed, PRODUCT, refusal, remote, scriptedService } from './scripted-service.ts';

const create = ['keys', 'create', '-P', PRODUCT];

/** Issues a key into `-o path` of a folder; `requests` is how many the service saw. */
async function into(path: string, cwd: string, more: readonly string[] = [], surroundings: Surroundings = {}) {
  const { fetch, seen } = scriptedService(issued);
  const ran = await lkm([...create, '-o', path, ...more], { ...surroundings, fetch, env: remote, cwd });
  return { ...ran, requests: seen.length };
}

const visibleFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('.local'))
    .sort();

describe('-o', () => {
  it('writes a secret for its owner only, and leaves nothing else behind', async () => {
    const cwd = tempFolder();
    expect(await into('key.txt', cwd)).toMatchObject({ code: 0, stdout: '', requests: 1 });
    expect(readFileSync(join(cwd, 'key.txt'), 'utf8')).toBe(`${KEY}\n`);
    expect(statSync(join(cwd, 'key.txt')).mode & 0o777).toBe(0o600);
    expect(visibleFiles(cwd)).toEqual(['key.txt']);
  });

  it('names no file if it is empty, and says so before anything is sent', async () => {
    const { code, stderr, requests } = await into('', tempFolder());
    expect({ code, stderr, requests }).toEqual({
      code: 2,
      stderr: 'error: --output is empty: the variable it comes from is not set\n',
      requests: 0,
    });
  });

  it('is open to nobody else before the result is there, whose reader could keep it open', async () => {
    const cwd = tempFolder();
    const { fetch } = scriptedService(issued);
    const modes: number[] = [];
    const looking: Surroundings['fetch'] = (request) => {
      for (const name of visibleFiles(cwd)) modes.push(statSync(join(cwd, name)).mode & 0o777);
      return fetch(request);
    };
    expect(await lkm([...create, '-o', 'key.txt'], { fetch: looking, env: remote, cwd })).toMatchObject({ code: 0 });
    expect(modes).toEqual([0o600]);
  });

  it('keeps the mode of the file that it replaces, and opens no secret to others', async () => {
    const cwd = tempFolder();
    for (const mode of [0o600, 0o640]) {
      writeFileSync(join(cwd, 'all.csv'), '');
      chmodSync(join(cwd, 'all.csv'), mode);
      const { fetch } = scriptedService(listed([customer('cus_1', 'Ada Ltd')]));
      expect((await lkm(['customers', 'list', '-o', 'all.csv', '--force'], { fetch, env: remote, cwd })).code).toBe(0);
      expect(statSync(join(cwd, 'all.csv')).mode & 0o777).toBe(mode);
    }
    await into('all.csv', cwd, ['--force']);
    expect(statSync(join(cwd, 'all.csv')).mode & 0o777).toBe(0o600);
  });

  it('removes what it made beside the file when the service refuses', async () => {
    const cwd = tempFolder();
    const { fetch } = scriptedService(refusal(404, 1, 'Product not found or inactive'));
    expect((await lkm([...create, '-o', 'key.txt'], { fetch, env: remote, cwd })).code).toBe(6);
    expect(visibleFiles(cwd)).toEqual([]);
  });

  it('removes it, too, when the result cannot take its place', async () => {
    const cwd = tempFolder();
    const { fetch } = scriptedService(issued);
    const blocking: Surroundings['fetch'] = (request) => {
      mkdirSync(join(cwd, 'key.txt'));
      return fetch(request);
    };
    const ran = await lkm([...create, '-o', 'key.txt'], { fetch: blocking, env: remote, cwd });
    expect(ran).toMatchObject({ code: 13, stderr: says('cannot write key.txt') });
    expect(visibleFiles(cwd)).toEqual(['key.txt']);
  });

  it.each([
    ['all.csv', [], 'id,name,'],
    ['all.CSV', [], 'id,name,'],
    ['all.json', [], '[{"id":'],
    ['all.jsonl', [], '{"id":'],
    ['all.tsv', [], 'cus_1\t'],
    ['all', [], 'cus_1\t'],
    ['all.csv', ['--format', 'tsv'], 'cus_1\t'],
    ['all.csv', ['--json'], '[{"id":'],
  ])('writes %s with %j in the format that was chosen, or that the file is named after', async (name, more, start) => {
    const cwd = tempFolder();
    const { fetch } = scriptedService(listed([customer('cus_1', 'Ada Ltd')]));
    expect((await lkm(['customers', 'list', '-o', name, ...more], { fetch, env: remote, cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, name), 'utf8').slice(0, start.length)).toBe(start);
  });

  it.each([
    ['json', '--format json'],
    ['=jsonl', '--format jsonl'],
    ['table', '--format table'],
    ['yaml', '--format table, tsv, csv, json, jsonl'],
  ])('takes %s for the format that other commands take there, and makes no such file', async (word, advice) => {
    const cwd = tempFolder();
    const { code, stderr, requests } = await into(word, cwd);
    expect({ code, requests, files: visibleFiles(cwd) }).toEqual({ code: 2, requests: 0, files: [] });
    expect(stderr).toContain(advice);
    expect(await into(`./${word}`, cwd)).toMatchObject({ code: 0, requests: 1 });
  });

  it('says which file it has written, and how many rows, unless that is for a program', async () => {
    const cwd = tempFolder();
    const written = async (...argv: string[]) => {
      const { fetch } = scriptedService(listed([customer('cus_1', 'Ada Ltd'), customer('cus_2', 'Bob')]));
      return (await lkm(['customers', 'list', '-o', ...argv], { fetch, env: remote, cwd })).stderr;
    };
    expect(await written('all.csv')).toBe('wrote all.csv · 2 rows\n');
    expect(await written('quiet.csv', '-q')).toBe('');
    expect(await written('all.json', '--json')).toBe('');
  });

  it('refuses a path that leads through a file before anything is sent', async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, 'plain'), '');
    expect(await into('plain/key.txt', cwd)).toMatchObject({ code: 13, requests: 0 });
  });

  it('writes a long result whole, for others to read', async () => {
    const cwd = tempFolder();
    const many = Array.from({ length: 2_000 }, (_, at) => customer(`cus_${at}`, 'Ada Ltd'));
    const { fetch } = scriptedService(listed(many));
    await lkm(['customers', 'list', '-o', 'all.json', '--json'], { fetch, env: remote, cwd });
    expect(JSON.parse(readFileSync(join(cwd, 'all.json'), 'utf8'))).toEqual(many);
    expect(statSync(join(cwd, 'all.json')).mode & 0o177).toBe(0o044);
  });

  it.each([[[]], [['--force']]])(
    'refuses a symbolic link and a device, which stay what they are, with %j',
    async (more) => {
      const cwd = tempFolder();
      writeFileSync(join(cwd, 'real.txt'), 'mine');
      symlinkSync('real.txt', join(cwd, 'link.txt'));
      for (const path of ['link.txt', '/dev/null']) {
        expect(await into(path, cwd, more)).toMatchObject({
          code: 13,
          requests: 0,
          stderr: `error: ${path} is not a file\n  Nothing was sent. Name a file, or use > ${path}\n`,
        });
      }
      expect(readlinkSync(join(cwd, 'link.txt'))).toBe('real.txt');
      expect(readFileSync(join(cwd, 'real.txt'), 'utf8')).toBe('mine');
      expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    },
  );

  it.each(['/proc/lkm-key', '/nowhere/key.txt', `${'long'.repeat(70)}.txt`, 'folder', 'dangling', 'loop'])(
    'knows before anything is sent that %s cannot be written',
    async (path) => {
      const cwd = tempFolder();
      mkdirSync(join(cwd, 'folder'));
      symlinkSync('nothing', join(cwd, 'dangling'));
      symlinkSync('loop', join(cwd, 'loop'));
      const { code, requests, stderr } = await into(path, cwd, ['--force']);
      expect({ code, requests }).toEqual({ code: 13, requests: 0 });
      expect(stderr).toMatch(/^error: /);
      expect(visibleFiles(cwd)).toEqual(['dangling', 'folder', 'loop']);
    },
  );

  it('takes a name that is as long as names can be', async () => {
    const cwd = tempFolder();
    expect(await into(`${'n'.repeat(251)}.txt`, cwd)).toMatchObject({ code: 0 });
  });
});
