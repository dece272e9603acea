import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { listEndpoints } from '../../src/contract/index.ts';
import { mintToken } from '../../src/domain/token.ts';
import { test as it } from '../support/fixtures.ts';
import { type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { pathWith } from '../support/scenario.ts';
import { startTestServer } from '../support/server.ts';
import type { World } from '../support/world.ts';

const EMAIL = 'canary-4b1d@example.com';

it('a run through every endpoint leaves no secret in the log, the record or the files', async ({ folder }) => {
  let log = '';
  const service = await startTestServer({
    db: join(folder.path, 'lkm.db'),
    masterKey: new Uint8Array(32).fill(9),
    rateLimit: null,
    logTo: {
      write: (lines) => {
        log += lines;
      },
    },
  });
  const answers: string[] = [];
  const call: World['call'] = async (_, method, path, body, headers) => {
    const answer = await service.call(method, path, body, headers);
    answers.push(answer.text);
    return answer;
  };
  const own = await furnish({ call }, 'admin', EMAIL);
  const stranger = mintToken('admin', new Uint8Array(32).fill(3));
  let record = '';
  for (const { name, endpoint } of listEndpoints()) {
    const { query, body } = validRequests[name as EndpointName](own);
    const path = pathWith(endpoint, query);
    const broken = body === undefined ? undefined : { ...Object(body), extra: EMAIL, productId: [own.licenseKey] };
    await call('admin', endpoint.method, path, broken);
    await call(
      'admin',
      endpoint.method,
      `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ x: EMAIL })}`,
      body,
    );
    await call('admin', endpoint.method, path, body, { Authorization: `Bearer ${stranger}` });
    await call('admin', endpoint.method, `/${own.licenseKey}${path}`, body);
    const answer = await call('admin', endpoint.method, path, body, { 'Idempotency-Key': `key-${name}` });
    // The address of a customer is read beside the record, for who may list customers.
    if (name === 'events.list' || name === 'audit.list')
      record += answer.text.replaceAll(`"customerEmail":"${EMAIL}"`, '');
  }
  await service.server.close();

  const all = (pattern: RegExp) => [...answers.join('\n').matchAll(pattern)].map(([, found]) => String(found));
  const tokens = all(/(lkm_[a-z-]+_[0-9a-z]{59})/g);
  const sessionSecrets = all(/"sessionSecret":"([^"]+)"/g);
  const files = all(/"licenseToken\\*":\\*"([\w.-]+)/g);
  const keys = all(/\b([0-9A-Z]{5}(?:-[0-9A-Z]{5}){4})\b/g);
  for (const found of [tokens, sessionSecrets, files, keys]) expect(found.length).toBeGreaterThan(0);

  const secrets = [service.adminToken, stranger, ...tokens, ...sessionSecrets, own.sessionSecret, 'PRIVATE KEY'];
  const hits = (text: string, words: readonly string[]) => [...new Set(words)].filter((word) => text.includes(word));
  expect(hits(log, [...secrets, ...keys, ...files, EMAIL, own.nextNonce, 'key-'])).toEqual([]);
  expect(hits(record, [...secrets, ...keys, ...files, EMAIL, own.nextNonce])).toEqual([]);
  const names = readdirSync(folder.path);
  const bytes = names.map((name) => readFileSync(join(folder.path, name)).toString('latin1')).join('');
  expect(bytes.length).toBeGreaterThan(100_000);
  expect(hits(bytes, [...secrets, ...files])).toEqual([]);
  // Not because nothing was looked at.
  expect(log).toContain('"route":"/key/sign"');
  expect(bytes).toContain(own.productId);
  expect(record).toContain('license.');
}, 60_000);
