/** What a refusal may say beyond its reason; each message uses only what it needs. */
export interface ApiErrorDetail {
  readonly customerId?: string;
  readonly email?: string;
}

interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string | ((detail: ApiErrorDetail) => string);
}

/**
 * Every refusal of the service: our stable name → HTTP status, `code` and `message` on the wire.
 *
 * Source: API description, the error tables and "Errors"; codes it does not show are decision 0003.
 */
export const apiErrors = {
  invalidParams: { status: 400, code: 1, message: 'Missing required params' },
  idempotencyKeyReused: { status: 400, code: 3, message: 'Idempotency key was used for a different request' },
  legacyRecord: { status: 400, code: 4, message: 'Idempotency record is of an earlier form' },
  idempotencyKeyMalformed: { status: 400, code: 5, message: 'Malformed idempotency key' },
  invalidToken: { status: 401, code: 1, message: 'Invalid access token' },
  scopeMissing: { status: 403, code: 1, message: 'Insufficient permissions for this operation' },
  notActivated: { status: 403, code: 2, message: 'License not activated' },
  activationLimit: { status: 403, code: 3, message: 'Activation limit reached' },
  deviceNotAllowed: { status: 403, code: 4, message: 'Device not allowed' },
  licenseExpired: { status: 403, code: 5, message: 'License expired' },
  licenseDisabled: { status: 403, code: 6, message: 'License disabled' },
  customerInactive: { status: 403, code: 7, message: 'Customer inactive' },
  wrongLicenseType: { status: 403, code: 8, message: 'Operation not available for this license type' },
  sessionLimit: { status: 403, code: 9, message: 'Session limit reached' },
  issueLimit: { status: 403, code: 10, message: 'This token has issued all the keys it may issue' },
  productUnavailable: { status: 404, code: 1, message: 'Product not found or inactive' },
  productNotFound: { status: 404, code: 1, message: 'Product not found' },
  licenseNotFound: { status: 404, code: 1, message: 'License not found' },
  deviceNotFound: { status: 404, code: 1, message: 'Device not found' },
  tokenNotFound: { status: 404, code: 1, message: 'Token not found' },
  accountNotFound: { status: 404, code: 1, message: 'Account not found' },
  customerNotFound: {
    status: 404,
    code: 2,
    message: ({ customerId }: ApiErrorDetail) => `Customer ${customerId} not found`,
  },
  routeNotFound: { status: 404, code: 1, message: 'Not found' },
  methodNotAllowed: { status: 405, code: 1, message: 'Method not allowed' },
  emailTaken: {
    status: 409,
    code: 2,
    message: ({ email }: ApiErrorDetail) => `A customer with email ${email} already exists`,
  },
  requestInProgress: { status: 409, code: 3, message: 'A request with this idempotency key is in progress' },
  storedResponseMissing: { status: 409, code: 4, message: 'The answer to this idempotency key was not stored' },
  requestTimeout: { status: 408, code: 1, message: 'Request timeout' },
  bodyTooLarge: { status: 413, code: 1, message: 'Request body too large' },
  uriTooLong: { status: 414, code: 1, message: 'Request URI too long' },
  unsupportedMediaType: { status: 415, code: 1, message: 'Unsupported content coding or character set' },
  rateLimited: { status: 429, code: 3, message: 'Rate limit exceeded' },
  headersTooLarge: { status: 431, code: 1, message: 'Request headers too large' },
  serverError: { status: 500, code: 1, message: 'Server error' },
  unavailable: { status: 503, code: 1, message: 'Service unavailable' },
} as const satisfies Record<string, Refusal>;

/** Our stable name for a refusal. */
export type Reason = keyof typeof apiErrors;

/** The refusals that any authenticated endpoint may answer besides those it lists. */
export const commonReasons = [
  'invalidParams',
  'invalidToken',
  'scopeMissing',
  'rateLimited',
  'serverError',
  'unavailable',
] as const satisfies readonly Reason[];

/** A refusal as it stands on the wire. */
interface Answer {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

/** The refusals that any mutation may answer besides. Source: API description, "Common behavior: idempotency". */
export const mutationReasons = [
  'bodyTooLarge',
  'unsupportedMediaType',
  'idempotencyKeyMalformed',
  'idempotencyKeyReused',
  'legacyRecord',
  'requestInProgress',
  'storedResponseMissing',
] as const satisfies readonly Reason[];

/** The client's call that met an error; null on the server's side. */
export interface CallTrace {
  /** Method and path: `POST /create-key`. */
  readonly operation: string;
  readonly idempotencyKey: string | null;
  readonly attempts: number;
}

/**
 * The service refused. Thrown by services, rendered by the server as `{message, code}`, rebuilt by the client.
 *
 * `reason` is null when the answer carries a status and code that this contract does not know.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: Reason | null;
  readonly status: number;
  readonly code: number;
  readonly call: CallTrace | null;

  constructor(answer: Answer & { reason: Reason | null; call?: CallTrace }, options?: ErrorOptions) {
    super(answer.message, options);
    this.reason = answer.reason;
    this.status = answer.status;
    this.code = answer.code;
    this.call = answer.call ?? null;
  }
}

/** Makes the refusal that `reason` names: `throw apiError('emailTaken', { email })`. */
export function apiError(reason: Reason, detail: ApiErrorDetail = {}, options?: ErrorOptions): ApiError {
  const { status, code, message }: Refusal = apiErrors[reason];
  return new ApiError(
    { reason, status, code, message: typeof message === 'string' ? message : message(detail) },
    options,
  );
}

/**
 * Rebuilds a refusal from an answer. Codes repeat on the wire (404/1 has several meanings), so the reason is
 * looked up among those the endpoint may give, by message first.
 */
export function readApiError(answer: Answer, possible: readonly Reason[], call: CallTrace): ApiError {
  const matches = possible
    .map((reason) => ({ reason, refusal: apiErrors[reason] }))
    .filter(({ refusal }) => refusal.status === answer.status && refusal.code === answer.code);
  const match = matches.find(({ refusal }) => refusal.message === answer.message) ?? matches[0];
  return new ApiError({ ...answer, reason: match?.reason ?? null, call });
}
