import { describe, expect, it } from 'vitest';
import { InterruptedError } from '../../src/cli/failure/errors.ts';
import type { Prompter } from '../../src/cli/prompts/prompt.ts';
import { person, type Surroundings, says } from './fake-io.ts';
import { against, customer, issued, KEY, PRODUCT, refusal, type Scripted } from './scripted-service.ts';

const remove = 'customers delete cus_1';

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
  readonly line: string;
  /** What the service says of what is about to go. */
  readonly about: readonly Scripted[];
  readonly done: Scripted;
  readonly answer: string | true;
  readonly question: string;
  readonly shown: string;
  readonly flags: readonly string[];
}

describe.each<Asking>([
  {
    line: remove,
    about: [ada, threeKeys],
    done: deleted,
    answer: 'cus_1',
    question: 'type cus_1 or Ada Ltd to confirm:',
    shown:
      'this deletes the customer for ever, at https://licensing.example.com:\n  cus_1  Ada Ltd <it@ada.example>\n' +
      'keys that lose their customer: 3\ndeleted cus_1\n',
    flags: ['--confirm cus_1', '-y'],
  },
  {
    line: 'tokens revoke tok_1',
    about: [[200, { action: 'tokens.get', status: true, data: token, code: 0 }]],
    done: [200, { action: 'tokens.revoke', status: true, code: 0 }],
    answer: true,
    question: 'revoke tok_1 for ever?',
    shown:
      '  tok_1  shop\n  scoped: license:write, license:read\n' +
      '  has issued 12 of 500 keys\n  at https://licensing.example.com\nrevoked tok_1\n',
    flags: ['--yes'],
  },
  {
    line: 'tokens revoke tok_2',
    about: [[404, { code: 1, message: 'Token not found' }]],
    done: [200, { action: 'tokens.revoke', status: true, code: 0 }],
    answer: true,
    question: 'revoke tok_2 for ever?',
    shown: '  tok_2  no token that the service knows\n  at https://licensing.example.com\nrevoked tok_2\n',
    flags: ['--yes'],
  },
  {
    line: `keys deactivate ${KEY} -P ${PRODUCT} --all-devices`,
    about: [[200, { code: 0, data: { license, customer: null } }]],
    done: [200, { code: 0, message: 'All devices deactivated' }],
    answer: true,
    question: 'free all devices?',
    shown: '  a3f1  build-01\n  77e0  No tag\n  at https://licensing.example.com\nfreed all devices\n',
    flags: ['--yes'],
  },
])('lkm $line', ({ line, about, done, answer, question, shown, flags }) => {
  it('shows what goes, asks, and does it', async () => {
    const { prompter, asked } = answering(answer);
    const surroundings = { env: { NO_COLOR: '1' }, terminal: true, prompter };
    const { code, stderr, seen } = await against(line, [...about, done], surroundings);
    expect({ code, asked, stderr }).toEqual({ code: 0, asked: [question], stderr: shown });
    expect(seen).toHaveLength(about.length + 1);
  });

  it('sends nothing when the answer is no, or nothing can be asked', async () => {
    const { prompter } = answering(answer === true ? false : 'yes');
    const refused = await against(line, [...about], { terminal: true, prompter });
    expect(refused).toMatchObject({ code: 3, stderr: says('was not confirmed') });
    expect(refused.seen.map(({ method }) => method)).toEqual(about.map(() => 'GET'));
    expect(await against(line, [])).toMatchObject({ code: 3, seen: [] });
  });

  it.each(flags)('asks nothing with %s', async (flag) => {
    const { code, seen } = await against(`${line} ${flag}`, [done]);
    expect({ code, requests: seen.length }).toEqual({ code: 0, requests: 1 });
  });
});

describe('deleting a customer', () => {
  it('ends with 130 on Ctrl-C at the question', async () => {
    const prompter = person({ type: () => Promise.reject(new InterruptedError('SIGINT', ['Nothing was sent.'])) });
    const { code, stderr } = await against(remove, [ada, threeKeys], { terminal: true, prompter });
    expect([code, stderr]).toEqual([130, says('interrupted')]);
  });
});

describe('a question that nobody can answer', () => {
  it.each<[why: string, options: string, surroundings: Surroundings]>([
    ['stderr is not a terminal', '', {}],
    ['stdin is not a terminal', '', { terminal: { stdout: true, stderr: true } }],
    ['stderr is not a terminal', '', { terminal: { stdin: true, stdout: true } }],
    ['--no-input is given', ' --no-input', { terminal: true }],
    ['LKM_NO_INPUT is set', '', { terminal: true, env: { LKM_NO_INPUT: '1' } }],
    ['CI is set', '', { terminal: true, env: { CI: 'woodpecker' } }],
    ['TERM is dumb', '', { terminal: true, env: { TERM: 'dumb' } }],
    ['', ' --json', { terminal: true }],
    ['the format is csv', ' --format csv', { terminal: true }],
  ])('ends with 3, sends nothing, and says why: %s', async (why, options, surroundings) => {
    const { code, stdout, stderr, seen } = await against(`${remove}${options}`, [], surroundings);
    expect([code, stdout, stderr, seen]).toEqual([3, '', says('--confirm cus_1'), []]);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      `deleting cus_1 needs confirmation, and nothing can be asked: ${why}`,
    );
  });

  it('can still be asked when only stdout is piped', async () => {
    const { prompter, asked } = answering('cus_1');
    const terminal = { stdin: true, stderr: true };
    expect((await against(remove, [ada, threeKeys, deleted], { terminal, prompter })).code).toBe(0);
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
  const create = 'keys create --max-retries 0';

  it('is picked by name on a terminal', async () => {
    const shown: unknown[] = [];
    const prompter = person({
      search: async (question, find) => {
        const choices = await find('', new AbortController().signal);
        shown.push(question, ...choices);
        return choices[0]?.value ?? '';
      },
    });
    const { code, stdout, seen } = await against(create, [products, issued], { terminal: true, prompter });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${KEY}\n` });
    expect(seen.at(-1)?.body).toEqual({ productId: PRODUCT });
    expect(shown).toEqual([
      'which product?',
      { value: PRODUCT, short: 'Engine \\u{1b}[31mPro', name: `Engine \\u{1b}[31mPro            ${PRODUCT}` },
      { value: `${PRODUCT}2`, short: 'Old', name: `Old                   inactive  ${PRODUCT}2` },
    ]);
  });

  it('is in the line that repeats the command', async () => {
    const lost = refusal(500, 1, 'Server error');
    const { prompter } = answering(PRODUCT);
    const { code, stderr } = await against(create, [products, lost], { terminal: true, columns: 200, prompter });
    expect(code).toBe(8);
    expect(stderr).toContain(`lkm keys create --max-retries 0 --product ${PRODUCT} --idempotency-key `);
  });

  it('is required where nobody can be asked, or where the account has none to pick', async () => {
    const none: Scripted = [200, { action: 'products.list', status: true, data: [], code: 0 }];
    for (const [line, terminal, answers, requests] of [
      [create, false, [products], 0],
      [`${create} --no-input`, true, [products], 0],
      [create, true, [none], 1],
    ] as const) {
      const { code, stderr, seen } = await against(line, [...answers], { terminal });
      expect([code, stderr, seen.length]).toEqual([2, says('--product is required'), requests]);
    }
  });
});
