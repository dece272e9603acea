import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Certificates for localhost and 127.0.0.1 that no authority has signed, and their keys, made for these tests and used
// nowhere else.

function read(name: string): { readonly key: string; readonly cert: string } {
  const text = readFileSync(join(import.meta.dirname, 'certificates', `${name}.pem`), 'utf8');
  const start = text.indexOf('-----BEGIN CERTIFICATE-----');
  return { key: text.slice(0, start), cert: text.slice(start) };
}

/** Valid from 2026-11-21, 10:04 UTC, to 2126-10-28. */
export const selfSigned = read('self-signed');

/** Another one, valid from 2026-11-21 to 2126-11-21. */
export const renewed = read('renewed');

/** Expired one second before the noon of 2026-11-21. */
export const expired = read('expired');
