import { type AnyEndpoint, aliasesOf } from '../../contract/endpoint.ts';
import type { Reason } from '../../contract/errors.ts';
import { namesIn } from '../../contract/field-names.ts';
import { listEndpoints } from '../../contract/index.ts';
import type { Caller } from '../../domain/access.ts';
import type { Context } from '../../service/context.ts';
import { countIssue } from '../../service/keys/issue.ts';
import { replayUnlessSecret, type StoredSuccess } from '../../service/operation.ts';
import { operations } from '../../service/operations.ts';

export interface Route {
  /** The operation, as it is called everywhere: `keys.create`. */
  readonly name: string;
  readonly endpoint: AnyEndpoint;
  /** Whether a response reveals that a key exists; look-ups of unknown keys are then limited. */
  readonly looksUpKey: boolean;
  /** How long a receiver may cache its response, in seconds; 0 is not at all. */
  readonly maxAgeSeconds: number;
  /** `input` has been parsed by the endpoint's schemas, and the payload fits its reply. */
  perform(context: Context, input: unknown): Promise<unknown>;
  /** Why the caller may not make this request, or null. Called before any look-up or replay. */
  authorize(caller: Caller, input: unknown): Reason | null;
  /** Called before a success that was stored for another token is replayed. Throws ApiError when the caller must not have it. */
  authorizeReplay(context: Context, input: unknown, stored: StoredSuccess<unknown>): Promise<void>;
  /** Whether its success counts against the `maxIssues` of the caller's token. */
  readonly issuesKeys: boolean;
}

type Acting = Pick<Route, 'perform' | 'authorize'> & Partial<Pick<Route, 'authorizeReplay'>>;

export function listRoutes(): Route[] {
  return listEndpoints().flatMap(({ name, endpoint }) => {
    const [resource = '', operation = ''] = name.split('.');
    const found = (operations as unknown as Record<string, Record<string, Acting>>)[resource]?.[operation];
    if (found === undefined) throw new Error(`${name} has no use case`);
    const { perform, authorize, authorizeReplay = replayUnlessSecret } = found;
    const route = {
      name,
      endpoint,
      looksUpKey: namesIn(endpoint.query ?? endpoint.body).includes('licenseKey'),
      maxAgeSeconds: endpoint.headers?.includes('Cache-Control') ? PUBLIC_MAX_AGE_SECONDS : 0,
      perform,
      authorize,
      authorizeReplay,
      issuesKeys: authorizeReplay === countIssue,
    };
    return [route, ...aliasesOf(endpoint).map((alias) => ({ ...route, endpoint: alias }))];
  });
}

/** A cache learns of a new key, or of a revoked file, within this time. */
const PUBLIC_MAX_AGE_SECONDS = 300;
