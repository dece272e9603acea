import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isPublicAddress, urlProblem } from '../../../src/domain/webhooks/url.ts';
import { createSender, type Resolve, type SenderOptions } from '../../../src/server/webhooks/send.ts';
import { listen, serve } from '../../client/loopback.ts';
import { selfSigned } from '../../support/certificates.ts';

/** Addresses that a server must not be sent to, in every form in which they can be written in a URL. */
const REFUSED = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
  ...['127.255.255.254', '0.0.0.0', '0', '0.1.2.3', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', 'localhost', 'LOCALHOST.'],
  ...['a.localhost', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  ...['169.254.169.254', '169.254.0.1', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '100.64.0.1'],
  ...['100.127.255.255', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1'],
  ...['192.88.99.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '127。0。0。1', '①②⑦.0.0.1'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:169.254.169.254]', '[::ffff:10.0.0.1]', '[::127.0.0.1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::1]', '[2002:7f00:1::]'],
  ...['[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[2001:db8::1]', '[2001:2::1]', '[2001:10::1]', '[3fff::1]'],
  ...['[fe80::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[100::1]', '[5f00::1]', '[4000::1]'],
];

const ALLOWED = [
  ...['8.8.8.8', '1.1.1.1', '172.32.0.1', '[2606:4700:4700::1111]', '[::ffff:8.8.8.8]', '[64:ff9b::808:808]'],
];

describe('the guard of webhooks', () => {
  it('refuses addresses that are not public, in whatever form, and allows others', () => {
    const isRefused = (url: string) => urlProblem(url, { allowPrivate: false }) !== null;
    expect(REFUSED.filter((host) => !isRefused(`https://${host}/`))).toEqual([]);
    expect(ALLOWED.filter((host) => isRefused(`https://${host}:8443/hook?a=1`))).toEqual([]);
  });

  it.each([
    ['http://example.com/', 'it must begin with https://'],
    ['ftp://example.com/', 'it must begin with https://'],
    ['file:///etc/passwd', 'it must begin with https://'],
    ['https://me@example.com/', 'it must not hold a user name or password'],
    ['https://example.com@127.0.0.1/', 'it must not hold a user name or password'],
    ['https://example.com/#a', 'it must not have a fragment'],
    ['https://', 'it is not a URL'],
    ['https://exa mple.com/', 'it is not a URL'],
    ['example.com', 'it is not a URL'],
  ])('refuses %s: %s', (url, why) => {
    expect(urlProblem(url, { allowPrivate: false })).toBe(why);
  });

  it.each(['fe80::1%eth0', '::ffff:127.0.0.1%1', 'example.com', '', '1.2.3', '08.8.8.8'])(
    'takes %s for no public address',
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});

describe('sending', () => {
  const never = new AbortController().signal;
  const attempt = (url: string) => ({ url, headers: {}, body: '{}', signal: never });
  const addresses =
    (...found: string[]): Resolve =>
    async () =>
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  function senderOf(options: Partial<SenderOptions>) {
    const sender = createSender({ allowPrivate: false, ...options });
    onTestFinished(sender.close);
    return sender;
  }

  /** A server that counts its connections. */
  async function count() {
    let connections = 0;
    const server = createServer((_, response) => response.end());
    server.on('connection', () => {
      connections += 1;
    });
    const port = (await listen(server)).split(':')[1];
    return { port, connections: () => connections };
  }

  it('makes no connection to any address of the table, by number or by a name for it', async () => {
    const { port, connections } = await count();
    const refused = REFUSED.flatMap((host) => {
      if (!URL.canParse(`https://${host}:${port}/`)) return [];
      return [host, new URL(`https://${host}/`).hostname.replace(/^\[|\]$/g, '')];
    });
    const sender = senderOf({ timeoutMs: 2_000, resolve: addresses() });
    for (const host of refused) {
      const shown = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
      const outcome = await sender.send(attempt(`https://${shown}:${port}/`));
      expect(outcome).toMatchObject({ accepted: false, status: null });
      const named = senderOf({ timeoutMs: 2_000, resolve: addresses(host.replace(/^\[|\]$/g, '')) });
      const error = 'its address is not public';
      expect(await named.send(attempt(`https://hooks.example.com:${port}/`))).toMatchObject({ accepted: false, error });
    }
    expect(connections()).toBe(0);
  });

  it('sends an event once per attempt, also over a connection that was kept and breaks', async () => {
    let [isBroken, requests] = [false, 0];
    const waiting: ServerResponse[] = [];
    const url = await serve((request, response) => {
      requests += 1;
      if (isBroken) return void request.socket.destroy();
      // Answered together, so that each has a connection of its own.
      waiting.push(response);
      if (waiting.length === 8) for (const each of waiting) each.end();
    });
    const sender = senderOf({ allowPrivate: true });
    await Promise.all(Array.from({ length: 8 }, () => sender.send(attempt(url))));
    expect(requests).toBe(8);
    isBroken = true;
    for (const count of [9, 10]) {
      expect(await sender.send(attempt(url))).toMatchObject({ accepted: false, error: 'connection reset' });
      expect(requests).toBe(count);
    }
  });

  it('shows what is compressed by the name of its coding', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('thank you')),
    );
    const sent = await senderOf({ allowPrivate: true }).send(attempt(url));
    expect(sent).toMatchObject({ accepted: true, answer: '(gzip)' });
  });

  it('checks all addresses again at each attempt: a name that was public before, or is partly', async () => {
    const { port, connections } = await count();
    const answers = [['8.8.8.8'], ['127.0.0.1'], ['8.8.8.8', '127.0.0.1']];
    const resolve: Resolve = (name) => addresses(...(answers.shift() ?? []))(name);
    const sender = senderOf({ timeoutMs: 300, resolve });
    // The first one is public: nothing there answers in time.
    expect((await sender.send(attempt('https://hooks.example.com:9/')))?.error).not.toBe('its address is not public');
    for (const url of Array(2).fill(`https://hooks.example.com:${port}/`)) {
      expect(await sender.send(attempt(url))).toMatchObject({ error: 'its address is not public' });
    }
    expect(answers).toEqual([]);
    expect(connections()).toBe(0);
  });

  it('follows no redirect to what it must not reach', async () => {
    const { port, connections } = await count();
    const location = `http://127.0.0.1:${port}/latest/meta-data`;
    const url = await serve((_, response) => response.writeHead(307, { location }).end());
    const outcome = await senderOf({ allowPrivate: true }).send(attempt(url));
    expect(outcome).toMatchObject({ accepted: false, status: 307 });
    expect(connections()).toBe(0);
  });

  it.each([
    ['ENOTFOUND', 'name not found', 'queryA'],
    ['ETIMEOUT', 'the name server did not answer', 'queryA'],
    ['ECONNREFUSED', 'the name server did not answer', 'queryA'],
    ['ESERVFAIL', 'the name server did not answer', 'queryA'],
    ['ECONNREFUSED', 'nothing listens there', 'connect'],
    ['EHOSTUNREACH', 'it cannot be reached', 'connect'],
    ['CERT_HAS_EXPIRED', 'certificate expired', ''],
    ['CERT_NOT_YET_VALID', 'certificate is not valid yet', ''],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate is for another name', ''],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate is not signed by a trusted authority', ''],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate is not signed by a trusted authority', ''],
    ['CERT_REVOKED', 'certificate cannot be verified', ''],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS as it should', ''],
    ['HPE_INVALID_CONSTANT', 'its answer is not HTTP', ''],
    ['EWHATEVER', 'connection failed (EWHATEVER)', ''],
  ])('says in words what %s means: %s', async (code, error, syscall) => {
    const failure = Object.assign(new Error('no'), { code, syscall });
    const sender = senderOf({ resolve: () => Promise.reject(failure) });
    expect(await sender.send(attempt('https://hooks.example.com/'))).toMatchObject({ error });
  });

  it('trusts no certificate that nobody has signed', async () => {
    const address = await listen(createSecureServer(selfSigned, (_, response) => response.end()));
    const url = `https://${address.replace('127.0.0.1', 'localhost')}/`;
    const distrustful = senderOf({ allowPrivate: true });
    expect((await distrustful.send(attempt(url)))?.error).toBe('certificate is not signed by a trusted authority');
    const trusting = senderOf({ allowPrivate: true, ca: selfSigned.cert });
    expect(await trusting.send(attempt(url))).toMatchObject({ accepted: true, status: 200 });
  });
});
