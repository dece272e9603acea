/** Details of an error; each message uses only some of them. */
export interface ApiErrorDetail {
  readonly customerId?: string;
  readonly email?: string;
  readonly reference?: string;
  /** The instant of the last change. */
  readonly updatedAt?: string;
  /** The number of the last event. */
  readonly last?: number;
  /** The objects that still use the resource: `2 devices`. */
  readonly inUse?: string;
  /** The latest instant that is possible. */
  readonly latest?: string | undefined;
  /** The problem, as the text after a colon. */
  readonly why?: string;
  /** The host that the request named. */
  readonly host?: string;
  /** A longer message that replaces the usual one. */
  readonly hint?: string;
  /** The fields that are missing or wrong, from the outside inwards: `newCustomer.email`. */
  readonly fields?: readonly string[];
}

/**
 * Every error of the service: our stable name → HTTP status, `code` and `message`, filled from {@link ApiErrorDetail}.
 * Source: API description, the error tables and "Errors"; codes it does not show are decision 0003.
 */
export const apiErrors = {
  invalidParams: { status: 400, code: 1, message: 'Missing required params' },
  idempotencyKeyReused: { status: 400, code: 3, message: 'Idempotency key was used for a different request' },
  legacyRecord: { status: 400, code: 4, message: 'Idempotency record is of an earlier form' },
  idempotencyKeyMalformed: { status: 400, code: 5, message: 'Malformed idempotency key' },
  webhookUrlRefused: { status: 400, code: 6, message: 'Webhook URL refused: {why}' },
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
  signatureRefused: { status: 403, code: 11, message: 'Session signature refused' },
  selfResetOff: { status: 403, code: 12, message: 'Customers cannot move slots of this license' },
  rebindLimit: { status: 403, code: 13, message: 'Move limit of this year reached' },
  licenseRevoked: { status: 403, code: 14, message: 'License revoked' },
  proofRefused: { status: 403, code: 15, message: 'Deactivation proof refused' },
  tokenOutlives: { status: 403, code: 16, message: 'A token ends no later than its maker: {latest} at the latest' },
  productUnavailable: { status: 404, code: 1, message: 'Product not found or inactive' },
  productNotFound: { status: 404, code: 1, message: 'Product not found' },
  licenseNotFound: { status: 404, code: 1, message: 'License not found' },
  deviceNotFound: { status: 404, code: 1, message: 'Device not found' },
  tokenNotFound: { status: 404, code: 1, message: 'Token not found' },
  accountNotFound: { status: 404, code: 1, message: 'Account not found' },
  customerNotFound: { status: 404, code: 2, message: 'Customer {customerId} not found' },
  sessionNotFound: { status: 404, code: 3, message: 'Session not found or ended' },
  versionNotFound: { status: 404, code: 1, message: 'Version not found' },
  planNotFound: { status: 404, code: 1, message: 'Plan not found' },
  webhookNotFound: { status: 404, code: 1, message: 'Webhook not found' },
  routeNotFound: { status: 404, code: 1, message: 'Not found' },
  methodNotAllowed: { status: 405, code: 1, message: 'Method not allowed' },
  emailTaken: { status: 409, code: 2, message: 'A customer with email {email} already exists' },
  requestInProgress: { status: 409, code: 3, message: 'A request with this idempotency key is in progress' },
  storedResponseMissing: { status: 409, code: 4, message: 'The answer to this idempotency key was not stored' },
  stale: { status: 409, code: 5, message: 'It was changed meanwhile, at {updatedAt}' },
  inUse: { status: 409, code: 6, message: 'License is in use: {inUse}' },
  noEnd: { status: 409, code: 7, message: 'License has no expiry' },
  hostActivated: { status: 409, code: 8, message: 'Host is activated already' },
  keyTaken: { status: 409, code: 9, message: 'This key exists already' },
  keyRevoked: { status: 409, code: 21, message: 'This key was revoked: it is never given again' },
  referenceTaken: { status: 409, code: 10, message: 'A key with reference {reference} already exists' },
  versionTaken: { status: 409, code: 12, message: 'The product has a version of this name' },
  productTaken: { status: 409, code: 13, message: 'A product with this id exists already' },
  planTaken: { status: 409, code: 18, message: 'The product has a plan of this name' },
  trialUsed: { status: 409, code: 19, message: 'This device has had its trial' },
  slugTaken: { status: 409, code: 20, message: 'Another product has this slug' },
  lastAdminToken: { status: 409, code: 11, message: 'This is the last admin token of the account' },
  tokenEnded: { status: 409, code: 16, message: 'Token has expired or was revoked' },
  tokenTaken: { status: 409, code: 17, message: 'A token with this secret exists already' },
  webhookInactive: { status: 409, code: 15, message: 'Webhook is not active' },
  webhookLimit: { status: 409, code: 14, message: 'The account has as many webhooks as it may have' },
  pageNotServed: { status: 409, code: 23, message: 'No server shows customers their page: it begins with lkm serve' },
  aheadOfService: { status: 409, code: 22, message: 'The service is at event {last}: was it restored?' },
  requestTimeout: { status: 408, code: 1, message: 'Request timeout' },
  bodyTooLarge: { status: 413, code: 1, message: 'Request body too large' },
  uriTooLong: { status: 414, code: 1, message: 'Request URI too long' },
  unsupportedMediaType: { status: 415, code: 1, message: 'Unsupported content coding or character set' },
  misdirected: {
    status: 421,
    code: 1,
    message: "Host '{host}' is not a name of this server; behind a proxy, start it with --behind-proxy",
  },
  rateLimited: { status: 429, code: 3, message: 'Rate limit exceeded' },
  headersTooLarge: { status: 431, code: 1, message: 'Request headers too large' },
  serverError: { status: 500, code: 1, message: 'Server error' },
  unavailable: { status: 503, code: 1, message: 'Service unavailable' },
} as const;

/** Our stable name for an error. */
export type Reason = keyof typeof apiErrors;

/** The errors that any authenticated endpoint may return besides its own errors. */
export const commonReasons: readonly Reason[] = [
  'invalidParams',
  'invalidToken',
  'scopeMissing',
  'uriTooLong',
  'rateLimited',
  'serverError',
  'unavailable',
];

/** The errors that any mutation may return besides. Source: API description, "Common behavior: idempotency". */
export const mutationReasons: readonly Reason[] = [
  'bodyTooLarge',
  'unsupportedMediaType',
  'idempotencyKeyMalformed',
  'idempotencyKeyReused',
  'legacyRecord',
  'requestInProgress',
  'storedResponseMissing',
];

/** The errors of a request to another address than the service's, which reaches no endpoint. */
export const addressReasons: readonly Reason[] = ['routeNotFound', 'methodNotAllowed', 'misdirected'];

/** An error as it is on the wire, with the values that the client reads from the headers. */
type WireError = Pick<ApiError, 'status' | 'code' | 'message'> & Partial<Pick<ApiError, 'retryAfterMs' | 'fields'>>;

/** The client's call that failed; null on the server's side. */
export interface CallTrace {
  /** Method and path: `POST /create-key`. */
  readonly operation: string;
  readonly idempotencyKey: string | null;
  readonly attempts: number;
  /** Whether an attempt before the last may have carried out the operation. */
  readonly mayHaveRunBefore?: boolean;
}

/** An error that the service returns; `reason` is null when this contract does not know its status and code. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: Reason | null;
  readonly status: number;
  readonly code: number;
  readonly call: CallTrace | null;
  /** How long the service asks to wait (`Retry-After`), in milliseconds; null when it does not say. */
  readonly retryAfterMs: number | null;
  /** The fields that are missing or wrong, where that is known (`LKM-Invalid-Fields`): `newCustomer.email`. */
  readonly fields: readonly string[];

  constructor(error: WireError & { reason: Reason | null; call?: CallTrace }, options?: ErrorOptions) {
    super(error.message, options);
    this.reason = error.reason;
    this.status = error.status;
    this.code = error.code;
    this.call = error.call ?? null;
    this.retryAfterMs = error.retryAfterMs ?? null;
    this.fields = error.fields ?? [];
  }
}

/** Makes the error that `reason` names: `throw apiError('emailTaken', { email })`. */
export function apiError(reason: Reason, detail: ApiErrorDetail = {}, options?: ErrorOptions): ApiError {
  const { status, code, message } = apiErrors[reason];
  const filled = message.replaceAll(/\{(\w+)\}/g, (_, name: keyof ApiErrorDetail) => String(detail[name]));
  return new ApiError({ reason, status, code, message: detail.hint ?? filled, fields: detail.fields ?? [] }, options);
}

/**
 * Rebuilds an error from a response: by message first, since codes repeat (404/1), among the errors that the endpoint may
 * return.
 */
export function readApiError(error: WireError, possible: readonly Reason[], call: CallTrace): ApiError {
  const matches = possible
    .map((reason) => ({ reason, known: apiErrors[reason] }))
    .filter(({ known }) => known.status === error.status && known.code === error.code);
  const match = matches.find(({ known }) => known.message === error.message) ?? matches[0];
  return new ApiError({ ...error, reason: match?.reason ?? null, call });
}
