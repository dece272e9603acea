import { expectTypeOf, test } from 'vitest';
import type { List } from '../../src/contract/reply.ts';
import type { CallOptions, Client, Customer, License } from '../../src/index.ts';

test('an operation takes plain values, without brands', () => {
  type Input = Parameters<Client['keys']['create']>[0];
  expectTypeOf<Input['productId']>().toEqualTypeOf<string>();
  expectTypeOf<Input['usesPerKey']>().toEqualTypeOf<number | null | undefined>();
  expectTypeOf<Input['licenseType']>().toEqualTypeOf<'node-locked' | 'floating' | undefined>();
  expectTypeOf<Input['allowedHosts']>().toEqualTypeOf<readonly string[] | null | undefined>();
  expectTypeOf<Input['newCustomer']>().toEqualTypeOf<
    { name: string; email?: string | null | undefined } | null | undefined
  >();
});

test('an operation takes the fields of its query and of its body', () => {
  expectTypeOf<{ productId: string; name: string }>().toExtend<Parameters<Client['products']['update']>[0]>();
  expectTypeOf<{ name: string }>().not.toExtend<Parameters<Client['products']['update']>[0]>();
});

test('input may be left out where nothing is required, and only there', () => {
  expectTypeOf<[]>().toExtend<Parameters<Client['customers']['list']>>();
  expectTypeOf<[]>().toExtend<Parameters<Client['signingKeys']['jwks']>>();
  expectTypeOf<[]>().not.toExtend<Parameters<Client['keys']['sign']>>();
  expectTypeOf<{ page: number }>().not.toExtend<Parameters<Client['tokens']['self']>[0]>();
  expectTypeOf<{ page: number; active: boolean }>().toExtend<Parameters<Client['customers']['list']>[0]>();
  expectTypeOf<{ page: string }>().not.toExtend<Parameters<Client['customers']['list']>[0]>();
  expectTypeOf<Parameters<Client['customers']['list']>[1]>().toEqualTypeOf<CallOptions | undefined>();
});

test('an operation answers the payload without its envelope', () => {
  expectTypeOf<Awaited<ReturnType<Client['customers']['list']>>>().toExtend<List<Customer>>();
  expectTypeOf<Awaited<ReturnType<Client['customers']['delete']>>>().toEqualTypeOf<void>();
  expectTypeOf<Awaited<ReturnType<Client['keys']['get']>>['license']>().toEqualTypeOf<License>();
  expectTypeOf<Awaited<ReturnType<Client['keys']['create']>>['key']>().toExtend<string>();
});

test('a list is a page when it is awaited, and its items when it is iterated', () => {
  expectTypeOf<ReturnType<Client['customers']['list']>>().toExtend<AsyncIterable<Customer>>();
  expectTypeOf<ReturnType<Client['customers']['get']>>().not.toExtend<AsyncIterable<unknown>>();
  const read = async ({ keys }: Client) => {
    for await (const { key, expirationDate, ...license } of keys.list({ status: ['full'] })) {
      // @ts-expect-error a field that a list does not have
      license.devices;
      return { key, expirationDate };
    }
    return null;
  };
  type Read = { key: string; expirationDate: string | null } | null;
  expectTypeOf<Awaited<ReturnType<typeof read>>>().toExtend<Read>();
});

test('a reply has the fields that it declares and no others, but for free metadata', () => {
  const read = (license: License) => {
    // @ts-expect-error a field that is misspelt
    license.expirationdate;
    // @ts-expect-error a field that only other resources have
    license.devices[0]?.licenseKey;
    return license.metadata?.plan;
  };
  expectTypeOf<License['expirationDate']>().toExtend<string | null>();
  expectTypeOf<ReturnType<typeof read>>().not.toBeUnknown();
});

test('a customer is named or brought along, never both', () => {
  type Create = Parameters<Client['keys']['create']>[0];
  const productId = 'prod_01jd7q3v6ye2wb8x5k9m4n0r7t';
  const [named, brought]: Create[] = [
    { productId, customerId: 'cus_1' },
    { productId, newCustomer: { name: 'Ada' } },
  ];
  // @ts-expect-error both of them
  const both: Create = { productId, customerId: 'cus_1', newCustomer: { name: 'Ada' } };
  expectTypeOf([named, brought, both]).toExtend<(Create | undefined)[]>();
});
