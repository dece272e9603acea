import type { Drill } from './drill.ts';

/** `GET /customer/export`: every customer of the account, a line of JSON each, as fast as the caller reads. */
export const streamCustomers: Drill = [
  {
    file: 'src/contract/reply.ts',
    edits: [
      {
        before: '/** Text is handed on in pieces',
        add: `/** A line of JSON per item, for programs that read a list as it comes. */
export function lines<T>(item: z.ZodType<T>): Reply<List<T>, ListResult<T>> {
  return {
    status: 200,
    contentType: 'application/x-ndjson',
    schema: item,
    // The document shows one line.
    wrap: ({ items }) => (Array.isArray(items) ? items[0] : undefined),
    stream: ({ items }) => streamLines(items),
    unwrap: (wire) => ({ items: z.array(item).parse(wire) }),
  };
}

async function* streamLines(items: readonly unknown[] | AsyncIterable<unknown>) {
  let piece = '';
  for await (const item of items) {
    piece += \`\${JSON.stringify(item)}\\n\`;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

`,
      },
    ],
  },
  {
    file: 'src/contract/customers.ts',
    edits: [
      { before: " } from './reply.ts';", add: ', lines' },
      {
        before: '  /** Creates a customer.',
        add: `  /** All customers of the account, oldest first, as they are read. */
  export: endpoint('GET /customer/export', 'customer:read', {
    summary: 'Export customers',
    description: 'Lists all customers of the account, oldest first, a line of JSON each.',
    reply: lines(Customer),
  }),

`,
      },
    ],
  },
  {
    file: 'src/service/customers.ts',
    edits: [
      {
        before: '  get: {',
        add: `  export: {
    authorize: anyone,
    perform: async ({ repositories, caller }) => ({ items: repositories.customers.list(caller.accountId).all() }),
  },

`,
      },
    ],
  },
];
