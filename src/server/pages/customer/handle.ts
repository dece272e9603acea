import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../../contract/errors.ts';
import { callerOf, freeDevice, openLink, readPage } from '../../../service/customer-pages.ts';
import type { UseCaseEvent } from '../../../service/record.ts';
import type { Repositories } from '../../../store/store.ts';
import type { CustomerLink } from '../../../store/tables/customer-links.ts';
import type { AppParts } from '../../app-parts.ts';
import { errorFields } from '../../error-fields.ts';
import { contextOf } from '../../http/execute.ts';
import { splitTarget } from '../../http/input.ts';
import type { HttpRequest, HttpResponse } from '../../http/messages.ts';
import { createRenderer, pageHeaders } from './html.ts';
import type { PageSettings } from './settings.ts';

/** The token of a link follows in the path. */
export const CUSTOMER_PATH = '/my/';

/** Logged in place of the path, which contains the token. */
const ROUTE = '/my/{token}';

type Outcome = 'freed' | 'gone' | 'refused';

/** A request for the page, with the texts and the headers of its response. */
type PageRequest = Pick<Parameters<typeof contextOf>[1], 'now' | 'ipAddress'> & {
  readonly httpRequest: HttpRequest;
  readonly requestId: string;
  readonly render: ReturnType<typeof createRenderer>;
  answer(status: number, body: string): HttpResponse;
};

/**
 * Serves the page of customers: `GET` shows it, `POST` frees a device. The response to a request without a valid token is 404,
 * whatever its method.
 */
export function createCustomerPage(parts: AppParts, settings: PageSettings) {
  const { store, limiter, log } = parts;
  return async (httpRequest: HttpRequest): Promise<HttpResponse> => {
    const started = parts.monotonic();
    const requestId = parts.newRequestId();
    const ipAddress = parts.addressOf(httpRequest.peer, httpRequest.headers.get('x-forwarded-for'));
    const now = parts.now();
    const render = createRenderer(settings, httpRequest.headers.get('accept-language') ?? '');
    const limit = await limiter?.takePage(ipAddress);
    const headers = { ...pageHeaders(settings), 'X-Request-Id': requestId, ...limit?.headers };
    const answer = (status: number, body: string): HttpResponse => ({ status, headers, body });
    let response: HttpResponse;
    try {
      response =
        limit?.allowed === false
          ? answer(429, render.problem('tooMany'))
          : await respond(parts, { httpRequest, requestId, ipAddress, now, render, answer });
    } catch (error) {
      log.error({ requestId, ...errorFields(store, error) }, 'request failed');
      response = answer(500, render.problem('failed'));
    }
    const ms = parts.monotonic() - started;
    const { method } = httpRequest;
    parts.onRequest?.({ method, route: ROUTE, status: response.status, ms });
    log.info({ requestId, method, route: ROUTE, status: response.status, ms: Math.round(ms) }, 'request');
    return response;
  };
}

async function respond(parts: AppParts, request: PageRequest): Promise<HttpResponse> {
  const { store } = parts;
  const { httpRequest, now, render, answer } = request;
  const { method } = httpRequest;
  const { path, query } = splitTarget(httpRequest.target);
  const token = path.slice(CUSTOMER_PATH.length);
  const link = await openLink(store.repositories, token, now);
  if (link === null || !['GET', 'HEAD', 'POST'].includes(method)) return answer(404, render.problem('invalid'));
  const show = async (status: number, notice: Outcome | null) => {
    const page = await readPage(store.repositories, link, now);
    // The customer was deleted after the look-up of the link.
    if (page === null) return answer(404, render.problem('invalid'));
    const { expiresAt } = link;
    const formToken = (deviceId: string) => formTokenOf(token, deviceId);
    return answer(status, render.keys({ page, expiresAt, now, notice, formToken }));
  };
  if (method !== 'POST') {
    await store.transaction((repositories) => record(parts, repositories, request, link, 'page.open', []));
    parts.onRecorded?.();
    return show(200, query === '?freed' ? 'freed' : null);
  }
  const outcome = await free(parts, request, token);
  if (outcome === null) return answer(404, render.problem('invalid'));
  if (outcome === 'freed') {
    const { headers } = answer(303, '');
    return { status: 303, headers: { ...headers, Location: '?freed' }, body: '' };
  }
  return show(outcome === 'refused' ? 403 : 409, outcome);
}

/** Frees the device that a form names; null when the link has ended meanwhile. */
async function free(parts: AppParts, request: PageRequest, token: string): Promise<Outcome | null> {
  const { httpRequest, now } = request;
  const form = await readForm(httpRequest);
  const [licenseId = '', deviceId = '', formToken = ''] = ['key', 'device', 'form'].map((name) => form.get(name) ?? '');
  const isOwn = isFromOwnPage(httpRequest) && isEqual(formToken, formTokenOf(token, deviceId));
  if (!isOwn) return 'gone';
  try {
    const outcome = await parts.store.transaction(async (repositories) => {
      const link = await openLink(repositories, token, now);
      if (link === null) return null;
      const events: UseCaseEvent[] = [];
      const context = contextOf(parts, { ...request, caller: callerOf(link) }, repositories, (event) =>
        events.push(event),
      );
      const outcome = await freeDevice(context, link, { licenseId, deviceId });
      if (outcome === 'freed') await record(parts, repositories, request, link, 'page.free', events);
      return outcome;
    });
    parts.onRecorded?.();
    return outcome;
  } catch (error) {
    // Another request has freed the device since `freeDevice` looked it up.
    if (error instanceof ApiError) return 'gone';
    throw error;
  }
}

const record = (
  parts: AppParts,
  repositories: Repositories,
  { requestId, ipAddress, now }: PageRequest,
  { accountId, customerId }: CustomerLink,
  operation: string,
  events: readonly UseCaseEvent[],
): Promise<unknown> =>
  parts.record(repositories, {
    ...{ accountId, at: now, address: ipAddress, door: 'page', requestId, operation },
    actor: { type: 'customer', id: customerId },
    events: events.length > 0 ? events : [{ resource: { type: 'customer', id: customerId } }],
  });

/** The fields of a form; empty where the body is too large, or is no text. */
async function readForm({ readBody }: HttpRequest): Promise<URLSearchParams> {
  try {
    return new URLSearchParams(Buffer.from(await readBody()).toString());
  } catch (error) {
    if (error instanceof ApiError) return new URLSearchParams();
    throw error;
  }
}

/** Makes a form valid for one device under one link, once: a device that is activated again has another id. */
const formTokenOf = (token: string, deviceId: string): string =>
  createHmac('sha256', token).update(`free ${deviceId}`).digest('base64url');

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Whether a form was not sent from a page of another site (Fetch Metadata); browsers say it over HTTPS. */
const isFromOwnPage = ({ headers }: HttpRequest): boolean =>
  (headers.get('sec-fetch-site') ?? 'same-origin') === 'same-origin';
