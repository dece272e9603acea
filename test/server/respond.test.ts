import { describe, expect, it } from 'vitest';
import { apiError } from '../../src/contract/errors.ts';
import { retirementHeaders, toApiError } from '../../src/server/http/respond.ts';
import { findEndpoint } from '../support/scenario.ts';

describe('what a failed request answers', () => {
  it.each([
    ['a refusal that the endpoint lists', apiError('emailTaken', { email: 'a@b.example' }), 'emailTaken'],
    ['a refusal that every endpoint may answer', apiError('invalidParams'), 'invalidParams'],
    ['a server error for a refusal that it does not list', apiError('sessionLimit'), 'serverError'],
    ['a server error for any other error', new TypeError('no'), 'serverError'],
    [
      'a server error for an error of a library with the same word',
      Object.assign(new Error('no'), { reason: 'emailTaken' }),
      'serverError',
    ],
    ['a server error for what is not even an error', 'no', 'serverError'],
  ])('is %s', (_, thrown, reason) => {
    expect(toApiError(findEndpoint('customers.create'), thrown).reason).toBe(reason);
  });
});

describe('the headers of an endpoint', () => {
  it('say nothing while it stays', () => {
    expect(retirementHeaders(findEndpoint('customers.list'))).toEqual({});
  });

  it('say since when it is deprecated and when it ends, once it is being retired', () => {
    const retirement = {
      deprecated: '2026-12-01T00:00:00.000Z',
      sunset: '2027-01-01T12:00:00.000Z',
      successor: '/v2/customer',
    } as const;
    expect(retirementHeaders({ ...findEndpoint('customers.list'), retirement })).toEqual({
      Deprecation: '@1796083200',
      Sunset: 'Fri, 01 Jan 2027 12:00:00 GMT',
      Link: '</docs>; rel="deprecation"; type="text/html", </v2/customer>; rel="successor-version"',
    });
  });
});
