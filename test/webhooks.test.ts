import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  isSignedBy,
  mintWebhookSecret,
  signatureHeaderProblem,
  signedHeaders,
} from '../src/domain/webhooks/signature.ts';
import { verifyTimestampedWebhook, verifyWebhook, WebhookVerificationError } from '../src/webhooks.ts';

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
    vi.useFakeTimers({ toFake: ['Date'], now });
    onTestFinished(() => void vi.useRealTimers());
    const both = signedHeaders({ id: 'evt_1', timestamp, body }, [secret, other]);
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

describe('timestamped signatures', () => {
  /** Made with `openssl dgst -sha256 -hmac`. */
  it('are those of the vector in docs/webhooks.md', () => {
    const page = readFileSync('docs/webhooks.md', 'utf8');
    const [, signature = ''] = /^LKM-Signature: (t=1795255200,v1=[0-9a-f]{64})$/m.exec(page) ?? [];
    const [, text = '', shown = ''] = /the body `([^`]+)` and the secret `([^`]+)`/.exec(page) ?? [];
    const message = { id: '', timestamp: 1_795_255_200, body: text };
    expect(signedHeaders(message, [shown], { signatures: ['timestamped'] })['LKM-Signature']).toBe(signature);
  });

  const hex = (by: string, time: number | string = timestamp, text = body) =>
    createHmac('sha256', Buffer.from(by, 'utf8')).update(`${time}.${text}`).digest('hex');
  const right = hex(secret);

  it('are those of the bytes of the secret as it is shown, beside the id and the time', () => {
    const message = { id: 'evt_1', timestamp, body };
    expect(signedHeaders(message, [secret], { signatures: ['timestamped'] })).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(timestamp),
      'LKM-Signature': `t=${timestamp},v1=${right}`,
    });
    expect(
      signedHeaders(message, [secret, other], { signatures: ['standard', 'timestamped'], header: 'X-Sig' }),
    ).toEqual({
      ...signedHeaders(message, [secret, other]),
      'X-Sig': `t=${timestamp},v1=${right},v1=${hex(other)}`,
    });
  });

  it.each([
    ['by itself', `t=${timestamp},v1=${right}`],
    ['behind another one', `t=${timestamp},v1=${hex(other)},v1=${right}`],
    ['beside forms that are not known', `v0=1,t=${timestamp},v1=${right},v2=abc`],
  ])('are verified: one %s', (_, signature) => {
    const given = { 'lkm-signature': signature };
    expect(verifyTimestampedWebhook(given, body, secret, { now })).toEqual(event);
    expect(verifyTimestampedWebhook(new Headers(given), Buffer.from(body), [secret], { now })).toEqual(event);
  });

  it('are verified with any of several secrets, in the header that is named', () => {
    const given = { 'x-shop-signature': `t=${timestamp},v1=${right}` };
    const options = { now, header: 'X-Shop-Signature' };
    expect(verifyTimestampedWebhook(given, body, [other, secret], options)).toEqual(event);
    expect(() => verifyTimestampedWebhook(given, body, secret, { now })).toThrow('has no lkm-signature');
  });

  it.each([
    ['another secret', `t=${timestamp},v1=${hex(other)}`],
    ['a changed time', `t=${timestamp + 1},v1=${right}`],
    ['a changed body', `t=${timestamp},v1=${hex(secret, timestamp, `${body} `)}`],
    ['half a signature', `t=${timestamp},v1=${right.slice(0, 32)}`],
    ['more than a signature', `t=${timestamp},v1=${right}00`],
    ['a signature of another form', `t=${timestamp},v2=${right}`],
    ['no signature', `t=${timestamp}`],
    ['no time', `v1=${right}`],
    ['two times', `t=${timestamp},t=${timestamp},v1=${right}`],
    ['a time that is none', `t=${timestamp}.5,v1=${hex(secret, `${timestamp}.5`)}`],
    ['a key that is no secret', `t=${timestamp},v1=${hex('')}`],
    ['the bytes behind the base64 as the key', `t=${timestamp},v1=${standardKeyed()}`],
    ['an empty header', ''],
  ])('are refused for %s', (_, signature) => {
    const verify = () => verifyTimestampedWebhook({ 'lkm-signature': signature }, body, secret, { now });
    expect(verify).toThrow(WebhookVerificationError);
  });

  it('are refused when they are too old or too new', () => {
    const given = { 'lkm-signature': `t=${timestamp},v1=${right}` };
    const verify = (seconds: number, toleranceSeconds?: number) => () =>
      verifyTimestampedWebhook(given, body, secret, {
        now: new Date(now.getTime() + seconds * 1_000),
        ...(toleranceSeconds !== undefined && { toleranceSeconds }),
      });
    for (const seconds of [-300, 300]) expect(verify(seconds)()).toEqual(event);
    expect(verify(301)).toThrow('too old');
    expect(verify(-301)).toThrow('in the future');
    expect(verify(3, 2)).toThrow('too old');
  });

  it('need the secret as it is shown', () => {
    const given = { 'lkm-signature': `t=${timestamp},v1=${right}` };
    for (const bad of ['', 'whsec_', 'whsec_AAAA', 'secret', secret.slice('whsec_'.length)]) {
      expect(() => verifyTimestampedWebhook(given, body, bad, { now })).toThrow(TypeError);
    }
  });

  it('are of events only', () => {
    const given = { 'lkm-signature': `t=${timestamp},v1=${hex(secret, timestamp, '7')}` };
    expect(() => verifyTimestampedWebhook(given, '7', secret, { now })).toThrow('is not an event');
  });

  it('are in a header whose name can be one, and that means nothing else', () => {
    const isNone = 'is not the name of a header';
    const isTaken = 'is a header that means something else';
    for (const [name, why] of [
      ...['LKM-Signature', 'x-shop_signature.1', 'a'.repeat(64)].map((one) => [one, null] as const),
      ...['', 'a b', 'a:b', 'ä', 'a\n', '"a"', 'a'.repeat(65)].map((one) => [one, isNone] as const),
      ...['Webhook-Signature', 'webhook-id', 'webhook-timestamp', 'Content-Type', 'content-length', 'User-Agent'].map(
        (one) => [one, isTaken] as const,
      ),
      ...['host', 'connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'].map(
        (one) => [one, isTaken] as const,
      ),
      ...['Authorization', 'proxy-authorization', 'Cookie', 'X-Forwarded-For', 'if-match', 'date'].map(
        (one) => [one, isTaken] as const,
      ),
    ]) {
      expect([name, signatureHeaderProblem(name)]).toEqual([name, why]);
    }
  });

  /** Signed with the key of the standard form in place of the text. */
  function standardKeyed(): string {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex');
  }
});
