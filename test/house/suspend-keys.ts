import type { DrillFile } from './drill.ts';

/** What names a file of a drill that is missing: the compiler, or a test. */
interface Named {
  readonly withoutIt: { readonly compiler: RegExp } | { readonly test: RegExp };
}

/**
 * `POST /key/suspend-all-of-customer` with its command: an operation that one statement more is needed for, file by file,
 * and what is said when that file alone is left as it is.
 */
export const suspendKeys: readonly (DrillFile & Named)[] = [
  {
    file: 'src/contract/keys/changes.ts',
    edits: [
      {
        before: "  unblock: endpoint('POST /key/unblock', 'license:write', {",
        add: `  suspendAllOfCustomer: endpoint('POST /key/suspend-all-of-customer', 'license:write', {
    summary: 'Block all keys of a customer',
    description: 'Blocks the keys of a customer that are not blocked, and says how many these were.',
    body: request('SuspendKeysRequest', { customerId: CustomerId }),
    reply: bare('SuspendKeysResponse', { suspended: z.int().min(0).max(999_999_999).describe('How many') }),
    errors: ['customerNotFound'],
  }),

`,
      },
    ],
    withoutIt: { compiler: /src\/service\/keys\/changes\.ts.+'suspendAllOfCustomer' does not exist/ },
  },
  {
    file: 'src/service/keys/changes.ts',
    edits: [
      {
        before: '  delete: {',
        add: `  suspendAllOfCustomer: {
    authorize: ofWholeAccount,
    authorizeReplay: sameForAll,
    async perform(context, { customerId }) {
      await holdCustomer(context, customerId);
      const enabled = await context.repositories.keys.lockEnabledOf(context.caller.accountId, customerId);
      for (const license of enabled) {
        await applyChanges(context, license, { vendorDisabled: true }, (after) =>
          licenseEvent('license.blocked', after),
        );
      }
      return { suspended: enabled.length };
    },
  },

`,
      },
      { before: "onProduct, sameForAll } from '../operation.ts'", add: 'ofWholeAccount, ' },
    ],
    withoutIt: { compiler: /src\/service\/keys\/changes\.ts.+Property 'suspendAllOfCustomer' is missing/ },
  },
  {
    file: 'src/store/tables/keys/keys.ts',
    edits: [
      {
        before:
          '  /** The licence that product and key name together, kept from all others until this transaction ends. */',
        add: `  /** The licences of a customer that are not disabled, kept from all others until this transaction ends. */
  lockEnabledOf: (accountId: AccountId, customerId: string): Promise<License[]> => licenses.all(db)\`
    select * from licenses where account_id = \${accountId} and customer_id = \${customerId}
      and vendor_disabled = 0 for update\`,

`,
      },
    ],
    withoutIt: { compiler: /src\/service\/keys\/changes\.ts.+Property 'lockEnabledOf' does not exist/ },
  },
  {
    file: 'src/cli/commands/keys/suspend.ts',
    text: `import { change, command, customerArgument } from '../../command.ts';

export const keysSuspend = command({
  about: 'Blocks every key of a customer.',
  operation: 'keys.suspendAllOfCustomer',
  arguments: { id: customerArgument },
  options: change,
  fields: ['suspended', 'idempotencyKey'],
  examples: [['lkm keys suspend cus_…', 'all keys of a customer']],

  async run({ id }, context) {
    const changed = await context.change((client, call) => client.keys.suspendAllOfCustomer({ customerId: id }, call));
    const row = { ...changed.answer, idempotencyKey: changed.idempotencyKey };
    return { kind: 'record', row, data: row, quiet: [String(row.suspended)] };
  },
});
`,
    withoutIt: { compiler: /src\/cli\/tree\.ts.+Cannot find module '\.\/commands\/keys\/suspend\.ts'/ },
  },
  {
    file: 'src/cli/tree.ts',
    edits: [
      {
        before: "  entry('keys unblock',",
        add: "  entry('keys suspend', 'block all keys of a customer', () => import('./commands/keys/suspend.ts')),\n",
      },
    ],
    withoutIt: { test: /has a command for every operation[\s\S]+keys\.suspendAllOfCustomer/ },
  },
  {
    file: 'test/api/POST-key-suspend-all-of-customer.test.ts',
    text: `import { answers, row, scenarios } from '../support/scenario.ts';

scenarios(
  'keys.suspendAllOfCustomer',
  {
    given: async (world) => {
      const { id: productId } = await world.product();
      const { id: customerId } = await world.customer();
      for (const _ of [1, 2]) await world.key({ productId, customerId });
      return { customerId };
    },
    body: ({ customerId }) => ({ customerId }),
  },
  [
    row('blocks all keys of the customer', answers({ suspended: 2, code: 0 }), {
      as: { scopes: ['license:write'] },
      wrote: {},
    }),
    row('finds no customer that is not there', ['customerNotFound', 'Customer cus_absent not found'], {
      send: { customerId: 'cus_absent' },
    }),
  ],
);
`,
    withoutIt: { test: /has one table of scenarios[\s\S]+keys\.suspendAllOfCustomer/ },
  },
];
