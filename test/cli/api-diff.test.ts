import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';

const document = (paths: object) => JSON.stringify({ openapi: '3.1.0', paths });
const key = { get: { responses: {} } };

function folderWith(files: Readonly<Record<string, string>>): string {
  const cwd = tempFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  return cwd;
}

it('lists breaking changes first, and ends with 1', async () => {
  const cwd = folderWith({
    'old.json': document({ '/key': key, '/gone': key }),
    'new.json': document({ '/a': key, '/key': key }),
  });
  expect(await lkm(['api-diff', 'old.json', 'new.json'], { cwd })).toEqual({
    code: 1,
    stdout: 'breaking\tGET /gone\tis gone\ncompatible\tGET /a\tis new\n',
    stderr: '1 breaking change of 2\n',
  });
  expect((await lkm(['api-diff', 'old.json', 'new.json', '-q'], { cwd })).stdout).toBe('GET /gone\n');
  const back = await lkm(['api-diff', 'old.json', '-', '--json'], {
    cwd,
    stdin: document({ '/key': key, '/gone': key }),
  });
  expect(back).toMatchObject({ code: 0, stdout: '[]\n' });
});

it('refuses what is no document', async () => {
  const cwd = folderWith({
    'old.json': document({}),
    'new.json': '{"a":1}',
    'text.json': 'hello',
    'null.json': '{"paths":null}',
  });
  for (const name of ['new.json', 'text.json', 'null.json']) {
    const { code, stderr } = await lkm(['api-diff', 'old.json', name], { cwd });
    expect({ code, stderr }).toEqual({ code: 13, stderr: `error: ${name} is not an OpenAPI document in JSON\n` });
  }
  expect((await lkm(['api-diff', 'old.json', 'none.json'], { cwd })).code).toBe(13);
  // The cause of what cannot be read as JSON is there for those who look for it.
  expect((await lkm(['api-diff', 'old.json', 'text.json', '--debug'], { cwd })).stderr).toContain('Unexpected token');
});
