import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contract } from '../../src/contract/index.ts';
import { exampleOf } from '../../src/contract/openapi/examples.ts';
import { acceptRequest, type SessionProof } from '../../src/domain/session.ts';

const session: SessionProof = { id: 'ses_1', secret: 'secret', nonce: 'n2', previousNonce: 'n1' };

const sign = (nonce: string, { id, secret }: Pick<SessionProof, 'id' | 'secret'> = session) => ({
  nonce,
  signature: createHmac('sha256', secret).update(`${id}:${nonce}`).digest('hex'),
});

describe('a request that a session signs', () => {
  it('makes the current nonce the previous one, and uses a previous one up', () => {
    expect(acceptRequest(session, sign('n2'), 'n3')).toEqual({ nonce: 'n3', previousNonce: 'n2' });
    expect(acceptRequest(session, sign('n1'), 'n3')).toEqual({ nonce: 'n2', previousNonce: null });
    expect(acceptRequest({ ...session, previousNonce: null }, sign('n1'), 'n3')).toBeNull();
  });

  it.each([
    ['a nonce that is not known', sign('n0')],
    ['the secret of another session', sign('n2', { id: 'ses_1', secret: 'another' })],
    ['the id of another session', sign('n2', { id: 'ses_2', secret: 'secret' })],
    ['the signature of another nonce', { ...sign('n1'), nonce: 'n2' }],
    ['a signature that is cut off', { nonce: 'n2', signature: sign('n2').signature.slice(2) }],
    ['a signature that is not hexadecimal', { nonce: 'n2', signature: 'x'.repeat(64) }],
    ['no signature', { nonce: 'n2', signature: '' }],
  ])('with %s, is refused', (_, request) => {
    expect(acceptRequest(session, request, 'n3')).toBeNull();
  });

  it('is signed as the example of the contract shows', () => {
    const { sessionId: id, sessionSecret: secret, nextNonce: nonce } = Object(exampleOf(contract.keys.checkout).reply);
    expect(exampleOf(contract.keys.heartbeat).body).toMatchObject({
      sessionId: id,
      timestamp: nonce,
      signature: sign(nonce, { id, secret }).signature,
    });
  });
});
