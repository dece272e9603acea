export { ApiError } from '../contract/errors.ts';
export { type Client, createClient, type Plain } from './client.ts';
export { InputError, type InputIssue, NetworkError, ProtocolError } from './errors.ts';
export { type ListAllOptions, type ListOperation, type ListPage, listAll } from './list-all.ts';
export type { AttemptEvent, CallOptions, ClientOptions, DeprecationNotice } from './options.ts';
export { outcomeUnknown } from './outcome-unknown.ts';
export type { Timing } from './timing.ts';
