/** The package's main entry: the typed client, and the verifier of licence files for the software that is licensed. */
export {
  type Client,
  type Closed,
  type Customer,
  createClient,
  type Device,
  type Event,
  type License,
  type Plain,
  type Product,
  type Token,
  type Webhook,
} from './client/client.ts';
export { InputError, type InputIssue, NetworkError, outcomeUnknown, ProtocolError } from './client/errors.ts';
export { fingerprintOf } from './client/fingerprint.ts';
export { type FollowOptions, followEvents } from './client/follow-events.ts';
export type { ListRequest } from './client/lists.ts';
export type { AttemptEvent, CallOptions, ClientOptions, DeprecationNotice } from './client/options.ts';
export type { Timing } from './client/timing.ts';
export {
  type LeasedSession,
  type SessionClient,
  type SessionInput,
  SessionLostError,
  type SessionOptions,
  withSession,
} from './client/with-session.ts';
export { ApiError } from './contract/errors.ts';
export { type Duration, parseIsoDuration } from './contract/fields.ts';
export {
  type ActivationCheck,
  createDeactivationProof,
  createDeviceKey,
  type DeviceKey,
  type LicenseClaims,
  type OfflineRequest,
  type PublicKey,
  readDeviceKey,
  type Verdict,
  type Verification,
  type VerifyActivationOptions,
  type VerifyLicenseFileOptions,
  verifyActivation,
  verifyLicenseFile,
  writeOfflineRequest,
} from './license-file.ts';
