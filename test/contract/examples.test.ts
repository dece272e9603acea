import { describe, expect, it } from 'vitest';
import { listEndpoints } from '../../src/contract/index.ts';
import { exampleOf } from '../../src/contract/openapi/examples.ts';

describe.each(listEndpoints())('the example of $name', ({ endpoint }) => {
  const { query, body, reply } = endpoint;
  const example = exampleOf(endpoint);

  it('has a query and a body where the endpoint takes them, and fits their schemas', () => {
    expect(body === undefined).toBe(example.body === undefined);
    if (query) expect(query.safeParse(example.query).error).toBeUndefined();
    else expect(example.query).toEqual({});
    expect(body?.safeParse(example.body).error).toBeUndefined();
  });

  it('has a reply that fits the schema of the reply', () => {
    const sent = JSON.parse(JSON.stringify(example.reply));
    expect(reply.schema.safeParse(sent).error).toBeUndefined();
    expect(() => reply.unwrap(sent)).not.toThrow();
  });

  it('names only fields that the endpoint has', () => {
    const known = (schema: typeof body) =>
      Object.keys((schema as { shape?: object } | undefined)?.shape ?? shapeBehind(schema));
    // An entry of metadata is a parameter of its own.
    const written = Object.keys(example.query).filter((name) => !name.startsWith('metadata.'));
    expect(known(query)).toEqual(expect.arrayContaining(written));
    expect(known(body)).toEqual(expect.arrayContaining(Object.keys(example.body ?? {})));
  });
});

/** The fields of a schema that is decoded first. */
const shapeBehind = (schema: unknown): object => (schema as { out?: { shape?: object } } | undefined)?.out?.shape ?? {};
