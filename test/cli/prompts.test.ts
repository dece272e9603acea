import { describe, expect, it } from 'vitest';
import { InterruptedError } from '../../src/cli/failure/errors.ts';
import type { Prompter } from '../../src/cli/prompts/prompt.ts';
import { lkm, person, type Surroundings } from './fake-io.ts';
import { customer, issued, KEY, PRODUCT, refusal, remote, type Scripted, scriptedService } from './scripted-service.ts';

const remove = ['customers', 'delete', 'cus_1'];
const ada: Scripted = [
  200,
  { action: 'customers.get', status: true, data: customer('cus_1', 'Ada Ltd', 'it@ada.example'), code: 0 },
];
const threeKeys: Scripted = [200, { data: [], meta: { total: 3, page: 1, limit: 1, totalPages: 3 }, code: 0 }];

const deleted: Scripted = [200, { action: 'customers.delete', status: true, code: 0 }];

/** A person who gives this answer, and the questions they were asked. */
function answering(answer: string | boolean): { prompter: Prompter; asked: string[] } {
  const asked: string[] = [];
  const reply =
    <T>(value: T) =>
    async (question: string): Promise<T> => {
      asked.push(question);
      return value;
    };
  const text = reply(String(answer));
  return { asked, prompter: person({ confirm: reply(answer === true), type: text, search: text }) };
}

const token = {
  ...{ id: 'tok_1', name: 'shop', kind: 'scoped', scopes: ['license:write', 'license:read'], productIds: null },
  ...{ maxIssues: 500, issued: 12, expiresAt: null, revokedAt: null, createdAt: '2026-08-14T09:12:44.031Z' },
};
const device = (hostId: string, deviceTag: string) => ({
  ...{ id: `dev_${hostId}`, hostId, deviceTag, ipAddress: '203.0.113.7', activationTime: '2026-11-17T08:00:00.000Z' },
});
const license = {
  ...{ id: 'lic_1', key: KEY, productId: PRODUCT, maxActivations: 5, activations: 2, activated: true },
  ...{ devices: [device('a3f1', 'build-01'), device('77e0', 'No tag')], expirationDate: null },
};

interface Asking {
  readonly argv: readonly string[];
  /** What the service says of what is about to go. */
  readonly about: readonly Scripted[];
  readonly done: Scripted;
  readonly answer: string | true;
  readonly question: string;
  readonly shown: string;
  readonly flags: readonly (readonly string[])[];
}

describe.each<Asking>([
  {
    argv: remove,
    about: [ada, threeKeys],
    done: deleted,
    answer: 'cus_1',
    question: 'type cus_1 to confirm:',
    shown:
      'this deletes the customer for ever:\n  cus_1  Ada Ltd <it@ada.example>\n' +
      'keys that lose their customer: 3\ndeleted cus_1\n',
    flags: [['--confirm', 'cus_1'], ['-y']],
  },
  {
    argv: ['tokens', 'revoke', 'tok_1'],
    about: [[200, { action: 'tokens.list', status: true, data: [token], code: 0 }]],
    done: [200, { action: 'tokens.revoke', status: true, code: 0 }],
    answer: true,
    question: 'revoke tok_1 for ever?',
    shown:
      '  tok_1  shop\n  scoped: license:write, license:read\n' +
      '  has issued 12 of 500 keys, at https://licensing.example.com\nrevoked tok_1\n',
    flags: [['--yes']],
  },
  {
    argv: ['keys', 'deactivate', KEY, '-P', PRODUCT, '--all-devices'],
    about: [[200, { code: 0, data: { license, customer: null } }]],
    done: [200, { code: 0, message: 'All devices deactivated' }],
    answer: true,
    question: 'free all devices?',
    shown: '  a3f1  build-01\n  77e0  No tag\nfreed all devices\n',
    flags: [['--yes']],
  },
])('lkm $argv.0 $argv.1', ({ argv, about, done, answer, question, shown, flags }) => {
  it('shows what goes, asks, and does it', async () => {
    const { fetch, seen } = scriptedService(...about, done);
    const { prompter, asked } = answering(answer);
    const { code, stderr } = await lkm(argv, { fetch, env: { ...remote, NO_COLOR: '1' }, terminal: true, prompter });
    expect({ code, asked, stderr }).toEqual({ code: 0, asked: [question], stderr: shown });
    expect(seen).toHaveLength(about.length + 1);
  });

  it('sends nothing when the answer is no, or nothing can be asked', async () => {
    const { fetch, seen } = scriptedService(...about);
    const { prompter } = answering(answer === true ? false : 'yes');
    const refused = await lkm(argv, { fetch, env: remote, terminal: true, prompter });
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('was not confirmed')]);
    expect((await lkm(argv, { fetch, env: remote })).code).toBe(3);
    expect(seen.map(({ method }) => method)).toEqual(about.map(() => 'GET'));
  });

  it.each(flags.map((flag) => [flag]))('asks nothing with %s', async (flag) => {
    const { fetch, seen } = scriptedService(done);
    expect((await lkm([...argv, ...flag], { fetch, env: remote })).code).toBe(0);
    expect(seen).toHaveLength(1);
  });
});

describe('deleting a customer', () => {
  it('says so when the service knows no such customer', async () => {
    const { fetch } = scriptedService(refusal(404, 2, 'Customer not found'));
    const { prompter } = answering('no');
    const { code, stderr } = await lkm(remove, { fetch, env: remote, terminal: true, prompter });
    expect([code, stderr]).toEqual([3, expect.stringContaining('cus_1  no customer that the service knows')]);
  });

  it('ends with 130 on Ctrl-C at the question', async () => {
    const { fetch } = scriptedService(ada, threeKeys);
    const prompter = person({ type: () => Promise.reject(new InterruptedError('SIGINT', ['Nothing was sent.'])) });
    const { code, stderr } = await lkm(remove, { fetch, env: remote, terminal: true, prompter });
    expect([code, stderr]).toEqual([130, expect.stringContaining('interrupted')]);
  });
});

describe('a question that nobody can answer', () => {
  it.each<[when: string, argv: string[], surroundings: Surroundings]>([
    ['without terminals', [], {}],
    ['when stdin is not a terminal', [], { terminal: { stdout: true, stderr: true } }],
    ['when stderr is not a terminal', [], { terminal: { stdin: true, stdout: true } }],
    ['with --no-input', ['--no-input'], { terminal: true }],
    ['with LKM_NO_INPUT', [], { terminal: true, env: { LKM_NO_INPUT: '1' } }],
    ['where CI is set', [], { terminal: true, env: { CI: 'true' } }],
    ['where CI is set to a name', [], { terminal: true, env: { CI: 'woodpecker' } }],
    ['with --json', ['--json'], { terminal: true }],
    ['with --format csv', ['--format', 'csv'], { terminal: true }],
  ])('ends with 3 and sends nothing %s', async (_, argv, surroundings) => {
    const { fetch, seen } = scriptedService();
    const env = { ...remote, ...surroundings.env };
    const { code, stdout, stderr } = await lkm([...remove, ...argv], { ...surroundings, fetch, env });
    expect([code, stdout, stderr, seen]).toEqual([3, '', expect.stringContaining('--confirm cus_1'), []]);
  });

  it('can still be asked when only stdout is piped', async () => {
    const { fetch } = scriptedService(ada, threeKeys, deleted);
    const { prompter, asked } = answering('cus_1');
    const terminal = { stdin: true, stderr: true };
    expect((await lkm(remove, { fetch, env: remote, terminal, prompter })).code).toBe(0);
    expect(asked).toHaveLength(1);
  });
});

describe('a product that is not given', () => {
  const times = { createdAt: '2026-08-14T09:12:44.031Z', updatedAt: '2026-08-14T09:12:44.031Z' };
  const products: Scripted = [
    200,
    {
      action: 'products.list',
      status: true,
      data: [
        { id: PRODUCT, name: 'Engine \u001b[31mPro', active: true, ...times },
        { id: `${PRODUCT}2`, name: 'Old', active: false, ...times },
      ],
      code: 0,
    },
  ];
  const create = ['keys', 'create', '--max-retries', '0'];

  it('is picked by name on a terminal', async () => {
    const { fetch, seen } = scriptedService(products, issued);
    const shown: unknown[] = [];
    const prompter = person({
      search: async (question, find) => {
        const choices = await find('', new AbortController().signal);
        shown.push(question, ...choices);
        return choices[0]?.value ?? '';
      },
    });
    const { code, stdout } = await lkm(create, { fetch, env: remote, terminal: true, prompter });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${KEY}\n` });
    expect(seen.at(-1)?.body).toEqual({ productId: PRODUCT });
    expect(shown).toEqual([
      'which product?',
      { value: PRODUCT, short: 'Engine \\u{1b}[31mPro', name: `Engine \\u{1b}[31mPro            ${PRODUCT}` },
      { value: `${PRODUCT}2`, short: 'Old', name: `Old                   inactive  ${PRODUCT}2` },
    ]);
  });

  it('is in the line that repeats the command', async () => {
    const { fetch } = scriptedService(products, refusal(500, 1, 'Server error'));
    const { prompter } = answering(PRODUCT);
    const { code, stderr } = await lkm(create, { fetch, env: remote, terminal: true, prompter });
    expect(code).toBe(8);
    expect(stderr).toContain(`lkm keys create --max-retries 0 --product ${PRODUCT} --idempotency-key `);
  });

  it('is required where nobody can be asked, or where the account has none to pick', async () => {
    for (const [surroundings, more] of [[{}, []] as const, [{ terminal: true }, ['--no-input']] as const]) {
      const { fetch, seen } = scriptedService(products);
      const { code, stderr } = await lkm([...create, ...more], { fetch, env: remote, ...surroundings });
      expect([code, stderr, seen]).toEqual([2, expect.stringContaining('--product is required'), []]);
    }
    const { fetch } = scriptedService([200, { action: 'products.list', status: true, data: [], code: 0 }]);
    const { code, stderr } = await lkm(create, { fetch, env: remote, terminal: true });
    expect([code, stderr]).toEqual([2, expect.stringContaining('--product is required')]);
  });
});
