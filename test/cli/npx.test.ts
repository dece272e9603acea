import { describe, expect, it } from 'vitest';
import { asTyped } from '../../src/cli/output/terminal.ts';
import { commandEntries } from '../../src/cli/tree.ts';
import { lkm, tempFolder } from './fake-io.ts';
import { listed, PRODUCT, refusal, remote, scriptedService } from './scripted-service.ts';

const throughNpx = { npm_command: 'exec' };

describe('a command that runs through npx', () => {
  it('shows it in the line that repeats it, and in what helps', async () => {
    const env = { ...remote, ...throughNpx };
    const lost = scriptedService(refusal(500, 1, 'Server error'));
    const create = ['keys', 'create', '-P', PRODUCT, '--max-retries', '0'];
    expect((await lkm(create, { fetch: lost.fetch, env })).stderr).toContain(
      `    npx --no-install lkm keys create -P ${PRODUCT} --max`,
    );
    const gone = scriptedService(refusal(404, 1, 'Product not found or inactive'));
    expect((await lkm(create, { fetch: gone.fetch, env })).stderr).toContain(
      '  See them:    npx --no-install lkm products list\n',
    );
    const { fetch } = scriptedService(listed([]));
    expect((await lkm(['customers', 'list'], { fetch, env })).stderr).toBe(
      'no customers yet; npx --no-install lkm customers create makes one\n',
    );
    expect((await lkm(['customers', 'list'], { env: throughNpx })).stderr).toContain(
      'See it work:  npx --no-install lkm quickstart',
    );
  });

  it('shows it in every command of the tour, within 80 columns', async () => {
    const cwd = tempFolder();
    const { stdout } = await lkm(['quickstart'], { cwd, env: throughNpx });
    const lines = stdout.replaceAll(cwd, '/tmp').split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const commands = lines.filter((line) => /^ {4}\$ .*\blkm /.test(line));
    expect(commands.length).toBeGreaterThan(10);
    expect(commands.filter((line) => !line.includes('npx --no-install lkm '))).toEqual([]);
  });

  it('is shown without --no-install where npx has fetched it', () => {
    const fromCache = { npm_command: 'exec', PATH: '/home/ada/.npm/_npx/3f1c/node_modules/.bin:/usr/bin' };
    expect(asTyped('try it: lkm quickstart', fromCache)).toBe('try it: npx lkm quickstart');
  });

  it.each(commandEntries)('knows lkm $path in a text', ({ path }) => {
    expect(asTyped(`try it: lkm ${path} --json`, throughNpx)).toBe(`try it: npx --no-install lkm ${path} --json`);
  });

  it.each(['a newer lkm has changed it', '/tmp/lkm keys', 'update lkm.', 'ada@lkm-keys.example'])(
    'leaves %s as it is',
    (text) => {
      expect(asTyped(text, throughNpx)).toBe(text);
    },
  );
});
