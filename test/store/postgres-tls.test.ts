import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterEach, expect, it, vi } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { selfSigned } from '../support/certificates.ts';

afterEach(() => vi.restoreAllMocks());

/** Answers as PostgreSQL does whether it encrypts, and begins TLS with a certificate that nobody has signed. */
async function openServer({ encrypts }: { readonly encrypts: boolean }) {
  const secureContext = createSecureContext(selfSigned);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      if (!encrypts) socket.write('N');
      else socket.write('S', () => new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {}));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://lkm@127.0.0.1:${port}/lkm`,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
  'with sslmode=%s a certificate that cannot be verified is refused in words, without a warning',
  async (mode) => {
    const warn = vi.spyOn(process, 'emitWarning');
    await using place = await openServer({ encrypts: true });
    await expect(openStore(`${place.url}?connect_timeout=5&sslmode=${mode}`)).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(/has a certificate that cannot be verified: self.signed certificate$/),
      hint: expect.stringContaining('sslrootcert=FILE'),
    });
    expect(warn).not.toHaveBeenCalled();
  },
);

it('names a certificate that is not there', async () => {
  await using place = await openServer({ encrypts: true });
  await expect(openStore(`${place.url}?sslmode=require&sslrootcert=/none.pem`)).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(/needs a file that cannot be read: ENOENT: .* '\/none\.pem'$/),
  });
});

it('says that a server does not encrypt', async () => {
  await using place = await openServer({ encrypts: false });
  await expect(openStore(`${place.url}?sslmode=require`)).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringMatching(/ does not encrypt connections$/),
  });
});
