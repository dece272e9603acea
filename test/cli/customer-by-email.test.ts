import { describe, expect, it } from 'vitest';
import { lkm, type Surroundings, tempFolder } from './fake-io.ts';

/** A database with a product and a customer, `it@ada.example`. */
async function shop() {
  const cwd = tempFolder();
  const env: Record<string, string> = { LKM_DB: 'lkm.db', NO_COLOR: '1' };
  const at = (argv: readonly string[], more: Surroundings = {}) => lkm(argv, { cwd, env, ...more });
  const answer = async (...argv: readonly string[]) => (await at(argv)).stdout.trimEnd();
  env.LKM_PRODUCT = await answer('products', 'create', '--name', 'Engine', '-q', '--create');
  const customer = await answer('customers', 'create', '--name', 'Ada', '--email', 'it@ada.example', '-q');
  return { at, answer, customer };
}

describe('the e-mail address of a customer', () => {
  it('stands for its id where a key is issued, for one and for many, in any case', async () => {
    const { answer, customer } = await shop();
    const key = await answer('keys', 'create', '--customer', 'IT@Ada.example');
    expect(JSON.parse(await answer('keys', 'get', key, '--json')).customer.id).toBe(customer);
    await answer('keys', 'create', '--customer', 'it@ada.example', '--count', '2');
    expect((await answer('customers', 'keys', 'it@ada.example', '-q')).split('\n')).toHaveLength(3);
    expect((await answer('keys', 'list', '--customer', 'it@ada.example', '-q')).split('\n')).toHaveLength(3);
  });

  it('stands for its id where a key gets another customer, and where the customer is changed', async () => {
    const { answer, customer } = await shop();
    const key = await answer('keys', 'create');
    const customerOf = async () => JSON.parse(await answer('keys', 'get', key, '--json')).customer?.id;
    await answer('keys', 'transfer', key, '--customer', 'it@ada.example');
    expect(await customerOf()).toBe(customer);
    await answer('keys', 'update', key, '--customer', 'none');
    expect(await customerOf()).toBeUndefined();
    await answer('keys', 'update', key, '--customer', 'it@ada.example');
    expect(await customerOf()).toBe(customer);
    expect(await answer('customers', 'update', 'it@ada.example', '--name', 'Ada Ltd', '--fields', 'id,name')).toBe(
      `${customer}\tAda Ltd`,
    );
  });

  it('of nobody changes nothing, and is not repeated', async () => {
    const { at, answer } = await shop();
    for (const words of [
      ['keys', 'create', '--customer', 'x@nobody.example'],
      ['keys', 'list', '--customer', 'x@nobody.example'],
      ['keys', 'export', '--customer', 'x@nobody.example'],
      ['customers', 'update', 'x@nobody.example', '--name', 'N'],
    ]) {
      const { code, stdout, stderr } = await at(words);
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
      expect(stderr).toMatch(
        /^error: there is no customer with this e-mail address\n {2}See them: +lkm customers list\n$/,
      );
    }
    expect(await answer('keys', 'list', '-q')).toBe('');
  });

  it('gives the first key again under the same idempotency key', async () => {
    const { answer } = await shop();
    const create = ['keys', 'create', '--customer', 'it@ada.example', '--expires', 'never', '--idempotency-key', 'k'];
    expect(await answer(...create)).toBe(await answer(...create));
  });
});
