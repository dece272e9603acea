import type { z } from 'zod';
import type { AnyEndpoint } from './endpoint.ts';
import { listEndpoints } from './index.ts';
import { License } from './keys/licenses.ts';

/** Different names for the same field: in operations, in replies, and in requests by mistake. */
const SAME_MEANING: readonly (readonly string[])[] = [
  ['usesPerKey', 'maxActivations', 'seats'],
  ['expiryDate', 'expirationDate', 'expiresAt', 'expiresAfter', 'expires'],
  ['customerId', 'newCustomer', 'customer'],
  ['versionId', 'version'],
  ['licenseKey', 'key'],
  ['metadata.features', 'features'],
  ['metadata.is_trial', 'is_trial', 'isTrial'],
];

/** Names that no operation has, but that callers try in `POST /create-key`. */
const EXPECTED_ELSEWHERE = ['format'];

/** The part of the message about a field that an operation does not have. */
export const UNKNOWN_FIELD = 'unknown field';

type Inputs = Pick<AnyEndpoint, 'query' | 'body'>;

/** A field of a request that the operation does not have. */
export interface MisplacedField {
  readonly name: string;
  /** For people: `unknown field; here: usesPerKey`. */
  readonly message: string;
}

/** The fields among `names` that another operation or a licence has: if they were ignored, a licence could lack its limit. */
export function misplacedFields(endpoint: Inputs, names: readonly string[]): readonly MisplacedField[] {
  const own = fieldsOf(endpoint);
  return names
    .filter((name) => !own.has(name) && knownNames().has(name))
    .map((name) => {
      const right = SAME_MEANING.find((same) => same.includes(name))?.filter((other) => own.has(topOf(other))) ?? [];
      return { name, message: right.length === 0 ? UNKNOWN_FIELD : `${UNKNOWN_FIELD}; here: ${right.join(' or ')}` };
    });
}

/** `metadata.features` → `metadata`. */
const topOf = (path: string): string => path.split('.', 1)[0] ?? '';

function fieldsOf(endpoint: Inputs): ReadonlySet<string> {
  const fields = fieldsByEndpoint.get(endpoint) ?? new Set([...namesIn(endpoint.query), ...namesIn(endpoint.body)]);
  fieldsByEndpoint.set(endpoint, fields);
  return fields;
}

/** Collected once for each endpoint: the fields of every request are compared with them. */
const fieldsByEndpoint = new WeakMap<Inputs, ReadonlySet<string>>();

/** The fields of an object schema, also behind a codec or a check of its size. */
export function namesIn(schema: z.core.$ZodType | undefined): readonly string[] {
  const def = (schema as z.core.$ZodTypes | undefined)?._zod.def;
  if (def?.type === 'object') return Object.keys(def.shape);
  return def?.type === 'pipe' ? namesIn(def.out) : [];
}

let known: ReadonlySet<string> | undefined;

/** Built for the first unknown field: most requests have only known fields. */
function knownNames(): ReadonlySet<string> {
  known ??= new Set([
    ...listEndpoints().flatMap(({ endpoint }) => [...fieldsOf(endpoint)]),
    ...namesIn(License),
    ...SAME_MEANING.flat(),
    ...EXPECTED_ELSEWHERE,
  ]);
  return known;
}
