import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { endpoint } from '../../src/contract/endpoint.ts';
import { bare } from '../../src/contract/reply.ts';

it('builds each schema of an endpoint with its first use, and once', () => {
  const body = vi.fn(() => z.object({ name: z.string() }));
  const reply = vi.fn(() => bare('TestEndpointResponse', { id: z.string() }));
  const made = endpoint({
    summary: 'Make a thing',
    description: 'Makes a thing.',
    method: 'POST',
    path: '/thing',
    scope: 'license:write',
    body,
    reply,
    example: { body: { name: 'a' }, reply: { id: '1' } },
    errors: [],
    source: 'this test',
  });
  expect([body.mock.calls.length, reply.mock.calls.length]).toEqual([0, 0]);
  expect(made.query).toBeUndefined();
  expect(made.body).toBe(made.body);
  expect(made.reply).toBe(made.reply);
  expect([body.mock.calls.length, reply.mock.calls.length]).toEqual([1, 1]);
});
