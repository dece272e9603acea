import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { type Fetch, mutates } from '../../src/contract/endpoint.ts';
import { streamEvents } from '../../src/contract/events.ts';
import { parseIsoDuration } from '../../src/contract/fields.ts';
import { listEndpoints } from '../../src/contract/index.ts';
import { commandLines } from '../../src/contract/openapi/command-lines.ts';
import { exampleOf } from '../../src/contract/openapi/examples.ts';
import { samplesOf } from '../../src/contract/openapi/samples.ts';
import { listCommandLines } from '../../tools/write-command-lines.ts';

const baseUrl = 'https://licensing.example.com';

/** What a sample of an endpoint is in a language; fails without one. */
function sampleOf({ name, endpoint }: ReturnType<typeof listEndpoints>[number], label: string): string {
  const found = samplesOf(name, endpoint).find((sample) => sample.label === label);
  if (found === undefined) throw new Error(`${name} has no sample for ${label}`);
  return found.source;
}

describe('the samples of an endpoint', () => {
  it.each(listEndpoints())('$name: the client sends the example', async (named) => {
    const { method, path, query, body, reply } = named.endpoint;
    const example = exampleOf(named.endpoint);
    const sent: Request[] = [];
    const answer: Fetch = async (request) => {
      sent.push(request);
      const text = typeof example.reply === 'string' ? example.reply : JSON.stringify(example.reply);
      return new Response(text, { status: reply.status, headers: { 'content-type': reply.contentType } });
    };
    const source = `return (async () => { ${sampleOf(named, 'client')} })()`;
    await new Function('client', 'parseIsoDuration', source)(
      createClient({ baseUrl, fetch: answer }),
      parseIsoDuration,
    );
    const [request] = sent;
    const url = new URL(request?.url ?? '');
    expect([sent.length, request?.method, url.pathname]).toEqual([1, method, path]);
    // An instant may be written in another way.
    expect(query?.parse(Object.fromEntries(url.searchParams))).toEqual(query?.parse(example.query));
    if (body !== undefined) expect(body.parse(await request?.json())).toEqual(body.parse(example.body));
  });

  it.each([...listEndpoints(), { name: 'events.stream', endpoint: streamEvents }])(
    '$name: curl sends the example',
    (named) => {
      const { method, path, scope } = named.endpoint;
      const example = exampleOf(named.endpoint);
      const script = `curl() { printf '%s\\0' "$@"; }; uuidgen() { echo k; }\n${sampleOf(named, 'curl')}`;
      const env = { PATH: process.env.PATH, LKM_BASE_URL: baseUrl, LKM_TOKEN: 't' };
      const words = execFileSync('bash', ['-c', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
      const behind = (flag: string) => words.filter((_, index) => words[index - 1] === flag);
      const url = new URL(words.find((word) => word.startsWith(baseUrl)) ?? '');
      expect([url.pathname, behind('-X')]).toEqual([path, method === 'GET' ? [] : [method]]);
      expect(Object.fromEntries(url.searchParams)).toEqual(example.query);
      expect(behind('-H')).toEqual([
        ...(scope === 'public' ? [] : ['Authorization: Bearer t']),
        ...(mutates(named.endpoint) ? ['Idempotency-Key: k'] : []),
        ...(example.body === undefined ? [] : ['Content-Type: application/json']),
      ]);
      expect(behind('-d').map((body) => JSON.parse(body))).toEqual(example.body === undefined ? [] : [example.body]);
    },
  );

  it.each(listEndpoints())('$name: a command does the same', (named) => {
    expect(sampleOf(named, 'lkm')).toContain('lkm ');
  });

  it('are the first examples of the commands', async () => {
    expect(commandLines, 'out of date: npm run openapi').toEqual(await listCommandLines());
  });
});
