import { type AnyEndpoint, mutates } from '../endpoint.ts';
import { type Duration, writeDuration } from '../fields.ts';
import { commandLines } from './command-lines.ts';
import { type Example, exampleOf } from './examples.ts';

/** A request in one language, as viewers of OpenAPI show it (`x-codeSamples`). */
export interface Sample {
  readonly lang: 'Shell' | 'TypeScript';
  readonly label: 'curl' | 'lkm' | 'client';
  readonly source: string;
}

/** The example of an endpoint as it is sent by curl, by the command and by the client. */
export function samplesOf(name: string, endpoint: AnyEndpoint, example = exampleOf(endpoint)): readonly Sample[] {
  const command = commandLines[name];
  return [
    { lang: 'Shell', label: 'curl', source: curlOf(endpoint, example) },
    ...(command === undefined ? [] : [{ lang: 'Shell', label: 'lkm', source: command } as const]),
    { lang: 'TypeScript', label: 'client', source: callOf(name, endpoint, example) },
  ];
}

function curlOf(endpoint: AnyEndpoint, example: Example): string {
  const { method, path, scope } = endpoint;
  const query = new URLSearchParams(example.query).toString();
  const headers = [
    ...(scope === 'public' ? [] : ['"Authorization: Bearer $LKM_TOKEN"']),
    ...(mutates(endpoint) ? ['"Idempotency-Key: $(uuidgen)"'] : []),
    ...(example.body === undefined ? [] : [`'Content-Type: application/json'`]),
  ];
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$LKM_BASE_URL${path}${query === '' ? '' : `?${query}`}"`,
    ...headers.map((header) => `-H ${header}`),
    ...(example.body === undefined ? [] : [`-d '${JSON.stringify(example.body).replaceAll(`'`, String.raw`'\''`)}'`]),
  ].join(' \\\n  ');
}

/** The events that happen from now on are no single reply. */
const FOLLOWING = `for await (const event of followEvents({ baseUrl, token })) {
  console.log(event.seq, event.type);
}`;

/** The client takes values where the wire has texts: numbers, durations, lists. */
function callOf(name: string, { query, body }: AnyEndpoint, example: Example): string {
  if (name === 'events.stream') return FOLLOWING;
  const input = { ...Object(query?.parse(example.query)), ...Object(body?.parse(example.body)) };
  const call = `await client.${name}(${Object.keys(input).length === 0 ? '' : literalOf(input)});`;
  return hasPayload(example) ? `const reply = ${call}` : call;
}

const hasPayload = ({ reply }: Example): boolean =>
  Object.keys(Object(reply)).some((name) => !['action', 'status', 'code'].includes(name));

/** Begins a duration in JSON text; no text of an example does. */
const DURATION = 'duration ';

/** A value as people write it: names without quotation marks, lengths of time as ISO 8601 has them. */
const literalOf = (value: object): string =>
  JSON.stringify(value, (_, member) => (isDuration(member) ? DURATION + writeDuration(member) : member), 2)
    .replaceAll(/^( +)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replaceAll(new RegExp(`"${DURATION}(\\w+)"`, 'g'), 'parseIsoDuration("$1")');

const isDuration = (value: unknown): value is Duration =>
  typeof value === 'object' && value !== null && 'years' in value && 'seconds' in value;
