import { UsageError } from '../failure/errors.ts';

export type Feature = readonly [name: string, value: boolean | number | string];

/** `NAME` switches a feature on; `NAME=VALUE` gives it a value, read as true, false or a number where it is one. */
export function parseFeature(text: string): Feature {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  // A record of JSON cannot hold it.
  if (name === '__proto__') throw new UsageError(`a feature cannot be called ${name}`);
  if (name === '') throw new UsageError(`'${text}' has no name; write NAME or NAME=VALUE`);
  return [name, at < 0 ? true : readValue(text.slice(at + 1))];
}

function readValue(text: string): boolean | number | string {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}
