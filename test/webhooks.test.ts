import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { isSignedBy, mintWebhookSecret, signedHeaders } from '../src/domain/webhooks/signature.ts';
import { verifyWebhook, WebhookVerificationError } from '../src/webhooks.ts';

const secret = mintWebhookSecret(new Uint8Array(32).fill(7));
const other = mintWebhookSecret(new Uint8Array(32).fill(8));
const now = new Date('2026-11-21T10:00:00.000Z');
const timestamp = now.getTime() / 1_000;
const event = { id: 'evt_1', seq: 7, type: 'license.created', data: { note: 'Zoë' } };
const body = JSON.stringify(event);
const headers = signedHeaders({ id: 'evt_1', timestamp, body }, [secret]);

describe('signatures of webhooks', () => {
  /** The vector of the specification: github.com/standard-webhooks/standard-webhooks, libraries/*. */
  it('are those of the vector of Standard Webhooks', () => {
    const vector = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
    const key = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const expected = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
    expect(signedHeaders(vector, [`whsec_${key}`])['webhook-signature']).toBe(expected);
    expect(isSignedBy(vector, expected, [key])).toBe(true);
  });

  it('are accepted by the package of Standard Webhooks, with either of two secrets', () => {
    const present = Math.floor(Date.now() / 1_000);
    const both = signedHeaders({ id: 'evt_1', timestamp: present, body }, [secret, other]);
    for (const known of [secret, other]) expect(new Webhook(known).verify(body, both)).toEqual(event);
    expect(() => new Webhook(secret).verify(`${body} `, both)).toThrow();
  });

  it('of the package of Standard Webhooks are accepted', () => {
    const signature = new Webhook(secret).sign('evt_1', now, body);
    expect(verifyWebhook({ ...headers, 'webhook-signature': signature }, body, secret, { now })).toEqual(event);
  });

  it('are made with 24 to 64 bytes', () => {
    expect(() => mintWebhookSecret(new Uint8Array(23))).toThrow(RangeError);
    for (const bad of ['whsec_', 'whsec_AAAA', 'secret', 'whsec_!!!!']) {
      expect(() => verifyWebhook(headers, body, bad, { now })).toThrow(TypeError);
    }
  });
});

describe('verifyWebhook', () => {
  it.each([
    ['headers of node:http', headers],
    ['headers in any case', Object.fromEntries(Object.entries(headers).map(([name, v]) => [name.toUpperCase(), v]))],
    ['lists of values', Object.fromEntries(Object.entries(headers).map(([name, v]) => [name, [v]]))],
    ['headers of the Fetch API', new Headers(headers)],
  ])('takes %s', (_, given) => {
    expect(verifyWebhook(given, body, secret, { now })).toEqual(event);
  });

  it('takes bytes, and any of several secrets', () => {
    expect(verifyWebhook(headers, Buffer.from(body), [other, secret], { now })).toEqual(event);
  });

  it.each([
    ['a changed body', headers, body.replace('7', '8'), secret],
    ['a changed id', { ...headers, 'webhook-id': 'evt_2' }, body, secret],
    ['a changed time', { ...headers, 'webhook-timestamp': String(timestamp + 1) }, body, secret],
    ['another secret', headers, body, other],
    ['no secret', headers, body, []],
    ['no signature', { ...headers, 'webhook-signature': undefined }, body, secret],
    ['an empty signature', { ...headers, 'webhook-signature': 'v1,' }, body, secret],
    [
      'a signature of another kind',
      { ...headers, 'webhook-signature': headers['webhook-signature']?.replace('v1', 'v1a') },
      body,
      secret,
    ],
    ['half a signature', { ...headers, 'webhook-signature': headers['webhook-signature']?.slice(0, 20) }, body, secret],
    ['no id', { ...headers, 'webhook-id': '' }, body, secret],
    ['a time that is none', { ...headers, 'webhook-timestamp': `${timestamp}.5` }, body, secret],
  ])('refuses %s', (_, given, text, key) => {
    expect(() => verifyWebhook(given, text, key, { now })).toThrow(WebhookVerificationError);
  });

  it('refuses what is too old or too new, also when it is signed', () => {
    const at = (seconds: number) => ({ now: new Date(now.getTime() + seconds * 1_000) });
    for (const seconds of [-300, 300]) expect(verifyWebhook(headers, body, secret, at(seconds))).toEqual(event);
    for (const seconds of [-301, 301]) {
      expect(() => verifyWebhook(headers, body, secret, at(seconds))).toThrow(WebhookVerificationError);
    }
    expect(() => verifyWebhook(headers, body, secret, { ...at(3), toleranceSeconds: 2 })).toThrow('too old');
    expect(() => verifyWebhook(headers, body, secret, { now: new Date(Number.NaN) })).toThrow('too old');
    const undated = { ...headers, 'webhook-timestamp': '2026-11-21' };
    expect(() => verifyWebhook(undated, body, secret, { now })).toThrow('is no number');
  });

  it('refuses a signed body that is no event', () => {
    for (const text of ['', '7', 'null', '{"id":1}', '{"id":"evt_1"']) {
      const signed = signedHeaders({ id: 'evt_1', timestamp, body: text }, [secret]);
      const message = /^$|"evt_1"$/.test(text) ? 'is not JSON' : 'is not an event';
      expect(() => verifyWebhook(signed, text, secret, { now })).toThrow(message);
    }
  });

  it('does not read a signature without its key', () => {
    const signature = `v1,${createHmac('sha256', '').update(`evt_1.${timestamp}.${body}`).digest('base64')}`;
    expect(() => verifyWebhook({ ...headers, 'webhook-signature': signature }, body, secret, { now })).toThrow();
  });
});
