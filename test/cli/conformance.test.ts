import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../src/cli/program.ts';
import { commandEntries, groups } from '../../src/cli/tree.ts';
import { fieldSchema } from '../../src/cli/values/check-fields.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { fakeIo, lkm } from './fake-io.ts';

describe.each(commandEntries)('lkm $path', ({ path, load }) => {
  const words = path.split(' ');

  it('explains itself within 80 columns, with an example', async () => {
    const { code, stdout, stderr } = await lkm([...words, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Examples\n {2}# .+\n {2}\$ .*lkm /m);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('refuses an option it does not know, and says where the known ones are', async () => {
    const { code, stdout, stderr } = await lkm([...words, '--bogus-option']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(`error: unknown option '--bogus-option': see lkm ${path} --help\n`);
  });

  it('is in the tree under its own words', async () => {
    expect((await load()).path).toBe(path);
  });

  it('names only fields that the contract has', async () => {
    const { operation = '', arguments: positional, options } = await load();
    const fields = [...Object.values(positional), ...Object.values(options)].flatMap(({ field }) => field ?? []);
    for (const field of fields) expect(fieldSchema(operation, field)).toBeDefined();
  });

  it('says in its usage where a name may stand for an id', async () => {
    const { arguments: positional, options } = await load();
    const named = [...Object.values(positional), ...Object.values(options)].filter(({ takesName }) => takesName);
    for (const spec of named) {
      const own = { planId: 'NAME', tokenId: 'NAME', sessionId: 'HOST|USER', webhookId: 'URL' };
      const names = `<ID|${new Map(Object.entries(own)).get(spec.field ?? '') ?? 'EMAIL|NAME'}`;
      expect(spec.usage).toContain(names);
    }
  });

  it('gives examples that parse', async () => {
    for (const [line] of (await load()).examples) {
      const parsed = await parseCommandLine(wordsOf(line), fakeIo().io);
      expect(parsed.kind === 'command' || line.includes('help') || line.includes('--version')).toBe(true);
    }
  });
});

describe('the tree', () => {
  it('has a command for every operation of the contract', async () => {
    const commands = await Promise.all(commandEntries.map(({ load }) => load()));
    const covered = commands.flatMap(({ operation }) => operation ?? []);
    const operations = listEndpoints().map(({ name }) => name);
    expect(operations.filter((name) => !covered.includes(name))).toEqual([]);
    expect(covered.filter((name) => !operations.includes(name))).toEqual([]);
  });

  it.each(groups.filter(({ alias }) => alias))('knows $name as $alias too', async ({ name, alias = '' }) => {
    const [long, short] = await Promise.all([lkm([name]), lkm([alias])]);
    expect(short).toEqual(long);
    expect(long.code).toBe(0);
  });

  it.each(commandEntries.filter(({ shortcut }) => shortcut))(
    'knows $path as $shortcut too',
    async ({ path, shortcut = '' }) => {
      const [long, short] = await Promise.all([lkm([...path.split(' '), '--help']), lkm([shortcut, '--help'])]);
      expect(short).toEqual(long);
      expect(long.code).toBe(0);
    },
  );

  it.each(commandEntries.filter(({ alias }) => alias))('knows $path as $alias too', async ({ path, alias = '' }) => {
    const [group = ''] = path.split(' ');
    expect(await lkm([group, alias, '--help'])).toEqual(await lkm([...path.split(' '), '--help']));
  });
});

/** The words after `lkm` in an example, as a shell would split them. */
function wordsOf(line: string): string[] {
  const [, rest = ''] = /lkm (.*?)\)?(?: \||$)/.exec(line.replace(/ < .*$/, '')) ?? [];
  return (rest.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
}
