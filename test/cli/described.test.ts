import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { describeCommand } from '../../src/cli/commands/described.ts';
import { commandEntries } from '../../src/cli/tree.ts';
import type { JsonSchema } from '../../src/contract/openapi/json-schema.ts';
import { openShop } from './shop.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** A shop with something of everything. */
async function openFullShop() {
  const shop = await openShop();
  const { names, cwd, answer, at } = shop;
  names.PROD = shop.product;
  names.CUS = await answer('customers create --name Ada --email it@ada.example -q');
  names.OLD = await answer('customers create --name Old -q');
  names.PLAN = await answer('plans create --name pro -P PROD --trial true --lasts 14d -q');
  names.KEY = await answer('keys create --customer CUS --reference order-1');
  names.FLOAT = await answer('keys create --type floating --max-sessions 3');
  names.GONE = await answer('keys create');
  await at('keys sign KEY --host-id pc-1 -o a.lic');
  await at('keys checkout FLOAT --json -o s.json');
  names.SES = await answer('sessions list -q');
  names.TOK = await answer('tokens create --kind read-only --name eyes --json').then((text) => JSON.parse(text).id);
  names.HOOK = await answer('webhooks create --url https://hooks.example/lkm --json').then(
    (text) => JSON.parse(text).id,
  );
  writeFileSync(join(cwd, 'orders.csv'), 'reference\nr-1\nr-2\n');
  return shop;
}

/** Command lines that work in that shop, in this order. */
const lines: readonly string[] = [
  'keys create',
  'keys create --count 2',
  'keys create -f orders.csv',
  'keys get KEY',
  'keys list',
  'keys list --status active',
  'keys why KEY --host-id pc-1',
  'keys update KEY --max-activations 3',
  'keys renew KEY --for 1y',
  'keys transfer KEY --customer CUS',
  'keys activate KEY --host-id pc-2 --tag desk',
  'keys rebind KEY --host-id pc-2 --new-host-id pc-3',
  'keys sign KEY --host-id pc-1',
  'keys sign KEY --host-id pc-1 -o b.lic',
  'keys verify a.lic',
  'keys history KEY',
  'keys trial --host-id pc-9 --plan PLAN',
  'keys block KEY',
  'keys unblock KEY',
  'keys reissue GONE',
  'devices list',
  'devices list GONE',
  'devices release --stale 2020-01-01 --yes',
  'keys checkout FLOAT',
  'keys heartbeat s.json',
  'sessions release SES',
  'sessions list',
  'keys revoke GONE --yes',
  'keys delete GONE --yes',
  'customers list',
  'customers get CUS',
  'customers create --name Bob',
  'customers update CUS --name Ada',
  'customers keys CUS',
  'customers delete OLD --yes',
  'products list',
  'products get PROD',
  'products create --name Viewer',
  'products update PROD --name Engine',
  'products versions PROD',
  'products add-version PROD 1.0',
  'plans list',
  'plans get PLAN',
  'plans create --name basic -P PROD',
  'plans update PLAN --name best',
  'tokens list',
  'tokens show TOK',
  'tokens create --kind read-only --name more',
  'tokens rotate TOK',
  'tokens revoke TOK --yes',
  'stats',
  'signing-keys list',
  'signing-keys rotate --yes',
  'signing-keys export',
  'revocations export',
  'events list',
  'audit list',
  'audit verify',
  'audit export kept',
  'webhooks list',
  'webhooks get HOOK',
  'webhooks create --url https://hooks.example/other',
  'webhooks update HOOK --description x',
  'webhooks deliveries HOOK',
  'webhooks rotate HOOK',
  'webhooks replay HOOK --after 1',
  'webhooks delete HOOK --yes',
  'config list',
  'config path',
  'db status',
  'doctor',
  'explain 409/2',
  'commands',
  'version',
  'help bulk',
  'completion bash',
  'auth list',
];

const described = async (line: string) => {
  const entry = commandEntries.filter(({ path }) => line === path || line.startsWith(`${path} `)).at(-1);
  if (entry === undefined) throw new Error(line);
  return describeCommand(await entry.load());
};

describe('lkm commands --json', () => {
  it('says what commands print with --json, how they end, and which of them change nothing', async () => {
    const { at, cwd } = await openFullShop();
    const stored = () => {
      using database = new DatabaseSync(join(cwd, 'lkm.db'), { readOnly: true });
      return database.prepare('select count(*) as rows, max(seq) as last from audit').get();
    };
    const wrong: unknown[] = [];
    for (const line of lines) {
      const { result, exitCodes, effect } = await described(line);
      const before = stored();
      const { code, stdout, stderr } = await at(`${line} --json`);
      if (code !== 0 || !exitCodes.includes(code)) {
        wrong.push({ line, code, stderr });
        continue;
      }
      const isValid = ajv.compile(result);
      const isOfLines = typeof result.description === 'string';
      for (const text of isOfLines ? stdout.trimEnd().split('\n') : [stdout]) {
        const printed = JSON.parse(text);
        if (!isValid(printed)) wrong.push({ line, errors: isValid.errors });
        const unnamed = unnamedIn(result, printed);
        if (unnamed.length > 0) wrong.push({ line, unnamed });
      }
      if (effect === 'reads' && !isDeepStrictEqual(stored(), before)) wrong.push({ line, effect });
    }
    expect(wrong).toEqual([]);
  });

  it('says of each command that is refused with which exit code it ends', async () => {
    const { at } = await openFullShop();
    for (const [line, code] of refused) {
      const ran = await at(line);
      expect({ line, code: ran.code }).toEqual({ line, code });
      expect((await described(line)).exitCodes).toContain(code);
    }
  });

  it('says which commands ask first, and that none of these only reads', async () => {
    const all = await Promise.all(
      commandEntries.map(async ({ path, load }) => [path, describeCommand(await load())] as const),
    );
    expect(all.filter(([, { confirms, effect }]) => confirms && effect === 'reads')).toEqual([]);
    const destroying = all.filter(([, { effect }]) => effect === 'destroys').map(([path]) => path);
    expect(destroying.toSorted()).toEqual([
      ...['api', 'customers delete', 'db restore', 'devices release', 'keys deactivate', 'keys delete'],
      ...['keys revoke', 'sessions release', 'signing-keys rotate', 'tokens revoke', 'webhooks delete'],
    ]);
  });
});

/** Commands that end badly, and how. */
const refused: readonly (readonly [line: string, code: number])[] = [
  ['keys get 00000-00000-00000-00000-00000', 6],
  ['keys get', 2],
  ['keys delete KEY', 3],
  ['keys delete KEY --yes', 7],
  ['keys create -f orders.csv --format xml', 2],
  ['keys sign KEY --host-id pc-9 -o a.lic', 13],
  ['customers create --name Twin --email it@ada.example', 7],
  ['customers get Nobody', 6],
];

/** The members of what is printed that its schema does not name. */
function unnamedIn(schema: JsonSchema, printed: unknown): readonly string[] {
  const kinds = schema.anyOf ?? [schema];
  const kind = kinds.find(({ type }) => (type === 'array') === Array.isArray(printed)) ?? schema;
  const { properties } = kind.type === 'array' ? (kind.items ?? {}) : kind;
  const [one] = Array.isArray(printed) ? printed : [printed];
  // Rows of a file have its own columns, too.
  const isOpen = properties === undefined || schema.anyOf !== undefined;
  return isOpen ? [] : Object.keys(one ?? {}).filter((name) => !Object.hasOwn(properties, name));
}
