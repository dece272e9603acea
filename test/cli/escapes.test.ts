import { describe, expect, it } from 'vitest';
import { against, customer, KEY, listed, PRODUCT, refusal, type Scripted } from './scripted-service.ts';

/** Sets the title of the window, clears the screen, and writes from right to left. */
const escapes = '\u001b]0;x\u0007\u001b[2J\u202e';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

const get = ['keys', 'get', KEY, '-P', PRODUCT];
const sign = ['keys', 'sign', KEY, '-P', PRODUCT, '--host-id', 'h1', '-o', '-'];
const document = `{"format":"lkm-lic/1",\n\t"name":"${escapes}"}`;
const onTerminal = { env: { NO_COLOR: '1' }, terminal: true };
const signed: Scripted = [200, { code: 0, file: document }];

describe('escape sequences of a service', () => {
  const rows: [where: string, argv: string[], answer: Scripted][] = [
    ['an error', get, refusal(404, 1, `License ${escapes} not found`)],
    ['an error with its trace', [...get, '--debug'], refusal(404, 1, `License ${escapes} not found`)],
    ['an error in JSON', [...get, '--json'], refusal(404, 1, `License ${escapes} not found`)],
    ['a list', ['customers', 'list'], listed([customer('cus_1', escapes)])],
    ['a list in JSON', ['customers', 'list', '--json'], listed([customer('cus_1', escapes)])],
    ['a document', sign, signed],
    ['a document in JSON', [...sign, '--json'], signed],
    ['a document with -q', [...sign, '-q'], signed],
  ];

  it.each(rows)('do not reach a terminal in %s', async (_, argv, answer) => {
    const { stdout, stderr } = await against([...argv, '-v', '--max-retries', '0'], [answer], onTerminal);
    expect(stdout + stderr).not.toMatch(raw);
    expect(stdout + stderr).toMatch(/\\u(\{1b\}|001b)/);
  });

  it.each([[[]], [['-q']]])('are part of a document in a pipe, which gets its exact bytes (%j)', async (more) => {
    expect((await against([...sign, ...more], [signed])).stdout).toBe(`${document}\n`);
  });

  it('do not reach a terminal in the name of a retired operation', async () => {
    const fetch = async () =>
      Response.json(listed([])[1 as never], { headers: { deprecation: '@1767225600', sunset: 'Mon\u009b2J' } });
    const { stderr } = await against('customers list', [], { ...onTerminal, fetch });
    expect(stderr).toContain('is being retired');
    expect(stderr).not.toMatch(raw);
  });
});
