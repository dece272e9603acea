import { expect } from 'vitest';
import type { Ran, Surroundings } from '../fake-io.ts';

/** A shop's file: three orders of one customer, written in two ways, one of a customer who is there, one of nobody. */
const ORDERS = `Order,customerName,customerEmail
o-1,Ada Ltd,it@ada.example
o-2,Ada Ltd,it@ada.example
o-3,"Ada, Ltd.",IT@Ada.example
o-4,Bob GmbH,bob@bob.example
o-5,,
`;

/** Issues the keys of such a file with one command, first as a dry run, and checks what is there then. */
export async function issueOrders(at: (argv: string[], more?: Surroundings) => Promise<Ran>): Promise<void> {
  const json = async (...argv: string[]) => JSON.parse((await at([...argv, '--json'])).stdout);
  const product = (await at(['products', 'create', '--name', 'Engine Pro', '-q'])).stdout.trim();
  const bob = (await at(['customers', 'create', '--name', 'Bob', '--email', 'Bob@bob.example', '-q'])).stdout.trim();
  const issue = ['keys', 'create', '-P', product, '-f', '-', '--map', 'Order=reference'];
  const { code, stdout } = await at([...issue, '--dry-run', '--json'], { stdin: ORDERS });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    rows: 5,
    needed: [
      { kind: 'customer', name: 'it@ada.example', status: 'new' },
      { kind: 'customer', name: 'bob@bob.example', status: 'exists', id: bob },
    ],
  });
  expect(await json('customers', 'list')).toHaveLength(1);
  const issued = await at([...issue, '--json'], { stdin: ORDERS });
  expect(issued).toMatchObject({ code: 0 });
  const owners = await Promise.all(
    JSON.parse(issued.stdout).map(async ({ key }: { key: string }) => (await json('keys', 'get', key)).customer?.email),
  );
  expect(owners.map((email) => email?.toLowerCase())).toEqual([
    ...Array.from({ length: 3 }, () => 'it@ada.example'),
    'bob@bob.example',
    undefined,
  ]);
  const names: string[] = (await json('customers', 'list')).map(({ name }: { name: string }) => name);
  expect(names.sort()).toEqual(['Ada Ltd', 'Bob']);
  expect(await at([...issue, '--json'], { stdin: ORDERS })).toEqual(issued);
}
