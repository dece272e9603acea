import type { Client } from '../../../client/client.ts';
import type { AuditRow, Checkpoint } from '../../../contract/audit.ts';
import { recordNames } from '../../../contract/events.ts';
import type { Jwk } from '../../../contract/signing-keys.ts';
import { command, many, option } from '../../command.ts';
import { LocalError, UsageError } from '../../failure/errors.ts';
import type { Field } from '../../output/result.ts';
import { count, moment } from '../../output/words.ts';
import { readText } from '../../values/files.ts';
import { readCommand } from '../forms.ts';
import { fieldsShown, verdictOf } from '../results.ts';
import { idOf, listRange, range, readFeed, refuseMasked } from './feed.ts';
import { subjectOf } from './lines.ts';

const auditFields: readonly Field[] = [
  { name: 'seq', drops: 3 },
  { name: 'at', label: 'when', show: moment },
  { name: 'by', label: 'who', shown: 'table', cuts: true },
  { name: 'what', shown: 'table' },
  { name: 'on', shown: 'table', cuts: true },
  { name: 'operation', shown: 'data' },
  { name: 'outcome', shown: 'data' },
  { name: 'resource', of: ({ resource }) => idOf(resource), shown: 'data' },
  { name: 'actor', of: ({ actor }) => idOf(actor), shown: 'data' },
  { name: 'address', drops: 2 },
  { name: 'door', drops: 1 },
  ...fieldsShown('data', ...Object.keys(recordNames)),
  ...fieldsShown('chosen', 'token', 'details', 'id', 'request_id', 'hash'),
];

export const auditList = readCommand({
  about:
    'Lists who did what in the account, oldest first: every change, and every one that was refused for lack of rights. What ' +
    'happened to keys and customers is lkm events list, and to one key lkm keys history.',
  alsoNeeds: { 'token:read': 'for --by with the name of a token' },
  operation: 'audit.list',
  options: {
    ...range,
    type: many('--type <OPERATION>', 'only what was done so, as keys.create'),
  },
  fields: auditFields,
  examples: [
    ['lkm audit list', 'the first hundred'],
    ['lkm audit list --last 20', 'what was done lately'],
    ['lkm audit list --after 4200 -o audit.csv', 'for a spreadsheet'],
  ],

  read: (client, values) =>
    listRange(client, client.audit.list, values, {
      columnsOf: (row) => ({ what: whatOf(row), on: onOf(row) }),
      nothing: 'nothing was done',
      fits: values.type && (({ operation }) => values.type?.includes(operation) === true),
    }),
});

const whatOf = ({ operation, outcome }: AuditRow): string =>
  outcome === 'done' ? operation : `${operation} ${outcome}`;

const onOf = ({ resource, details, ...names }: AuditRow): string =>
  subjectOf({ ...names, resource_type: resource?.type ?? '', resource_id: resource?.id }, details);

export const auditVerify = command({
  about:
    'Checks that no row of the audit log was changed, removed, moved or cut off: each against the hash of the one ' +
    'before, and the checkpoints against the public keys of the account. With a checkpoint that was kept elsewhere also ' +
    'that no older database was put back. Prints ok, or broken and what is wrong; exit code 0 or 1.',
  operation: 'audit.checkpoints',
  options: { checkpoint: option('--checkpoint <FILE>', 'a checkpoint.json that lkm audit export has written') },
  fields: ['verdict', 'rows', 'head', 'problems'],
  examples: [
    ['lkm audit verify', 'check the log of the service'],
    ['lkm audit verify --checkpoint /mnt/safe/checkpoint.json', 'also find an older or another database'],
  ],

  async run({ checkpoint: file }, context) {
    const kept = file === undefined ? null : await readCheckpoint(file, await readText(file, context.io));
    const client = await context.client();
    const stored = await Array.fromAsync(client.audit.checkpoints());
    const keys = await readKeys(client, [...stored, ...(kept === null ? [] : [kept])]);
    const { checkAudit } = await import('../../../domain/audit-check.ts');
    const check = checkAudit({ stored, kept, keys });
    let rows = 0;
    let head = { seq: 0, hash: '' };
    for await (const { items, meta } of readFeed(client.audit.list, 0)) {
      refuseMasked(items);
      for (const row of items) check.add(row);
      rows += items.length;
      head = meta.head;
    }
    const problems = check.end(head);
    const found = `${count(rows, 'row')} · ${signedUpTo(stored, kept)}`;
    return verdictOf(
      problems.map(({ text }) => text),
      { rows, head, problems },
      found,
    );
  },
});

function signedUpTo(stored: readonly Checkpoint[], kept: Checkpoint | null): string {
  const last = stored.at(-1);
  const signed = last === undefined ? 'no checkpoint yet' : `signed up to row ${last.seq}, ${moment(last.at)}`;
  return kept === null ? signed : `${signed} · fits the checkpoint of row ${kept.seq}, ${moment(kept.at)}`;
}

async function readCheckpoint(path: string, text: string): Promise<Checkpoint> {
  try {
    const { Checkpoint } = await import('../../../contract/audit.ts');
    return Checkpoint.parse(JSON.parse(text));
  } catch (cause) {
    throw new LocalError(`${path} holds no checkpoint`, ['lkm audit export writes one as checkpoint.json.'], { cause });
  }
}

async function readKeys(client: Client, checkpoints: readonly Checkpoint[]): Promise<readonly Jwk[]> {
  const [first] = checkpoints;
  if (first === undefined) return [];
  if (checkpoints.some(({ accountId }) => accountId !== first.accountId)) {
    throw new UsageError('the checkpoint is of another account');
  }
  return (await client.signingKeys.jwks({ account: first.accountId })).keys;
}
