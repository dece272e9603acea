import { z } from 'zod';
import { type AnyEndpoint, mutates, reasonsOf } from '../../contract/endpoint.ts';
import { apiErrors } from '../../contract/errors.ts';
import { Event } from '../../contract/events.ts';
import { listEndpoints } from '../../contract/index.ts';
import { License } from '../../contract/keys/licenses.ts';
import { type JsonSchema, jsonSchemaOf } from '../../contract/openapi/json-schema.ts';
import type { Command } from '../command.ts';
import { exitCodes } from '../failure/errors.ts';
import { exitOf } from '../failure/report.ts';
import { neededScopes } from '../request/needed-scopes.ts';

/** Describes a command for programs. */
export function describeCommand(command: Command) {
  const endpoint = listEndpoints().find(({ name }) => name === command.operation)?.endpoint;
  const effect = effectOf(command, endpoint);
  const confirms = 'yes' in command.options;
  return {
    effect,
    /** Whether it asks on a terminal, and elsewhere ends with exit code 3 without `--yes`. */
    confirms,
    scopes: neededScopes(command),
    exitCodes: exitCodesOf(command, endpoint),
    result: resultOf(command, endpoint),
  };
}

type Effect = 'reads' | 'changes' | 'destroys';

const forAll = <T>(value: T, paths: string): Readonly<Record<string, T>> =>
  Object.fromEntries(paths.split(', ').map((path) => [path, value]));

/** Effects that do not follow from the operation. */
const effects: Readonly<Record<string, Effect>> = {
  ...forAll('reads', 'offline request, offline release, webhooks listen'),
  ...forAll('changes', 'serve, auth login, auth switch, auth logout, config set, config unset, db migrate, db copy'),
  ...forAll('changes', 'db rekey, keys import, keys transfer, customers unlink'),
  ...forAll('destroys', 'devices release, db restore, api'),
};

const changedLicense = z.object({ license: License, idempotencyKey: z.string() });

const verification = z.looseObject({
  verdict: z.string(),
  claims: z.looseObject({}).nullable(),
  watermark: z.int(),
  revocations: z.looseObject({}).nullable(),
  keysKeptAt: z.iso.datetime().nullable(),
});

/** Rows for the name of an error, an object with errors for an exit code. */
const explained = z.union([z.array(z.looseObject({})), z.looseObject({})]);

/** The output of `--json` where it differs from the response: the fields of the command, rows of them, or a schema. */
const results: Readonly<Record<string, 'fields' | 'rows' | z.ZodType>> = {
  ...forAll('fields', 'keys create, keys sign, keys heartbeat, keys checkin, keys checkout, sessions release'),
  ...forAll('fields', 'tokens revoke, signing-keys export, revocations export, webhooks delete, webhooks replay'),
  ...forAll('fields', 'audit verify, audit export, offline request, offline answer, offline release'),
  ...forAll('fields', 'auth status'),
  ...forAll('rows', 'keys block, keys unblock, keys revoke, keys delete, keys compare, keys import'),
  ...forAll('rows', 'devices release, customers delete, products versions, tokens check, auth list'),
  ...forAll('rows', 'config list, db migrate, db copy, commands'),
  ...forAll(changedLicense, 'keys update, keys renew, keys transfer'),
  'keys verify': verification,
  'keys history': z.array(Event),
  explain: explained,
  doctor: z.looseObject({ ok: z.boolean(), checks: z.array(z.looseObject({})) }),
};

function effectOf({ path, options }: Command, endpoint: AnyEndpoint | undefined): Effect {
  const known = effects[path];
  if (known !== undefined) return known;
  if (endpoint === undefined || !mutates(endpoint)) return 'reads';
  return endpoint.method === 'DELETE' || 'yes' in options ? 'destroys' : 'changes';
}

function exitCodesOf({ options, arguments: positional }: Command, endpoint: AnyEndpoint | undefined) {
  const { ok, internal, usage, notConfirmed, unauthenticated, outcomeUnknown, rateLimited } = exitCodes;
  const { serverError, network, partial, local, interrupted, terminated } = exitCodes;
  const reasons = endpoint === undefined ? [] : reasonsOf(endpoint);
  const isOfMany = 'file' in options || Object.values(positional).some(({ usage }) => usage.includes('...'));
  const codes = new Set<number>([ok, internal, usage, local, interrupted, terminated]);
  if (endpoint !== undefined) for (const code of [unauthenticated, rateLimited, serverError, network]) codes.add(code);
  for (const reason of reasons) codes.add(exitOf({ ...apiErrors[reason], reason }));
  if (endpoint !== undefined && mutates(endpoint)) codes.add(outcomeUnknown);
  if ('yes' in options) codes.add(notConfirmed);
  if (isOfMany) codes.add(partial);
  return [...codes].sort((one, other) => one - other);
}

function resultOf({ path, fields, options, streams }: Command, endpoint: AnyEndpoint | undefined): JsonSchema {
  const result = results[path];
  const named = { type: 'object', properties: Object.fromEntries(fields.map(({ name }) => [name, {}])) };
  const rows = { type: 'array', items: named };
  if (streams) return { description: 'Such an object on each line', ...named };
  if (result === 'rows') return rows;
  const answer = result === 'fields' ? undefined : (result ?? answerOf(endpoint));
  const schemas: Record<string, JsonSchema> = {};
  const own = answer === undefined ? named : jsonSchemaOf(answer, schemas);
  // For a file or several objects, a row each.
  const both = 'file' in options || 'count' in options ? { anyOf: [own, rows] } : own;
  return { ...both, ...(answer !== undefined && { components: { schemas } }) };
}

/** A response without its envelope, with the idempotency key of a change. */
function answerOf(endpoint: AnyEndpoint | undefined): z.ZodType | undefined {
  const schema = endpoint?.reply.schema;
  if (endpoint === undefined || !(schema instanceof z.ZodObject)) return undefined;
  const { code: _, action: _1, status: _2, meta: _3, data, ...own } = schema.shape as Shape;
  const answer = data ?? z.looseObject(own);
  if (!mutates(endpoint) || !(answer instanceof z.ZodObject)) return answer;
  return z.looseObject({ ...answer.shape, idempotencyKey: z.string() });
}

type Shape = Readonly<Record<string, z.ZodType>>;
