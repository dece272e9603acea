import type { Instant } from '../../contract/scalars.ts';
import type { Caller } from '../../domain/access.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import type { HttpRequest } from './messages.ts';
import type { Route } from './routes.ts';

/** A request after authentication, rate limit and scope check, which public endpoints skip. */
export interface AuthorizedRequest<R = Route> {
  readonly route: R;
  readonly httpRequest: HttpRequest;
  readonly requestId: string;
  readonly caller: Caller;
  readonly now: Instant;
  readonly ipAddress: IpAddress;
  /** The headers of the response, of a success or a refusal. */
  readonly headers: Record<string, string>;
  /** How many keys the caller's token may still issue, if this request has counted keys. */
  budget?: number | undefined;
}

export interface ReadResult {
  readonly status: number;
  readonly body: string | AsyncIterable<string>;
  readonly replayed: false;
}

/** An authorised request that only reads. */
export type AuthorizedRead = Pick<AuthorizedRequest, 'route' | 'httpRequest' | 'caller' | 'now' | 'ipAddress'>;
