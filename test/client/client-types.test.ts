import { expectTypeOf, test } from 'vitest';
import type { Customer } from '../../src/contract/customers.ts';
import type { License } from '../../src/contract/keys/licenses.ts';
import type { List } from '../../src/contract/reply.ts';
import type { CallOptions, Client } from '../../src/index.ts';

test('an operation takes plain values, without brands', () => {
  type Input = Parameters<Client['keys']['create']>[0];
  expectTypeOf<Input['productId']>().toEqualTypeOf<string>();
  expectTypeOf<Input['usesPerKey']>().toEqualTypeOf<number | null | undefined>();
  expectTypeOf<Input['licenseType']>().toEqualTypeOf<'node-locked' | 'floating' | undefined>();
  expectTypeOf<Input['allowedHosts']>().toEqualTypeOf<readonly string[] | null | undefined>();
  expectTypeOf<Input['newCustomer']>().toEqualTypeOf<{ name: string; email?: string | undefined } | null | undefined>();
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
  expectTypeOf<Awaited<ReturnType<Client['customers']['list']>>>().toEqualTypeOf<List<Customer>>();
  expectTypeOf<Awaited<ReturnType<Client['customers']['delete']>>>().toEqualTypeOf<void>();
  expectTypeOf<Awaited<ReturnType<Client['keys']['get']>>['license']>().toEqualTypeOf<License>();
  expectTypeOf<Awaited<ReturnType<Client['keys']['create']>>['key']>().toExtend<string>();
});
