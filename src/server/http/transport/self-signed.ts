import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Tls } from './listen.ts';

/** Whom a certificate is for, and for how long; times are in milliseconds since 1970. */
export interface CertificateOptions {
  readonly names: readonly string[];
  readonly from: number;
  readonly until: number;
}

/**
 * Makes a key (P-256) and a certificate that it signs itself: of a server, and of no authority, so that nothing else can
 * be signed with it (RFC 5280; decision 0025).
 */
export function createSelfSigned({ names, from, until }: CertificateOptions): Tls {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const keyId = createHash('sha256').update(spki).digest().subarray(0, 16);
  const name = sequence(set(sequence(oid(COMMON_NAME), der(UTF8, Buffer.from('lkm serve --tls-self-signed')))));
  const extensions = sequence(
    extension(SUBJECT_KEY_ID, der(OCTETS, keyId)),
    extension(AUTHORITY_KEY_ID, sequence(der(CONTEXT | 0, keyId))),
    extension(BASIC_CONSTRAINTS, sequence(), CRITICAL),
    extension(KEY_USAGE, der(BITS, DIGITAL_SIGNATURE), CRITICAL),
    extension(EXTENDED_KEY_USAGE, sequence(oid(SERVER_AUTH))),
    extension(ALTERNATIVE_NAMES, sequence(...names.map(alternativeName))),
  );
  const content = sequence(
    der(CONTEXT | CONSTRUCTED | 0, integer(VERSION_3)),
    integer(Buffer.concat([Buffer.of(1), keyId])),
    SIGNED_WITH,
    name,
    sequence(time(from), time(until)),
    name,
    spki,
    der(CONTEXT | CONSTRUCTED | 3, extensions),
  );
  const signature = sign('sha256', content, privateKey);
  const certificate = sequence(content, SIGNED_WITH, der(BITS, Buffer.concat([NO_UNUSED_BITS, signature])));
  return { cert: pem(certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

// Tags of ASN.1 (X.690).
const [BOOLEAN, INTEGER, BITS, OCTETS, OID, UTF8, UTC_TIME, TIME] = [0x01, 0x02, 0x03, 0x04, 0x06, 0x0c, 0x17, 0x18];
const [CONSTRUCTED, CONTEXT] = [0x20, 0x80];
const [SEQUENCE, SET] = [CONSTRUCTED | 0x10, CONSTRUCTED | 0x11];

// Object identifiers as they are encoded (RFC 5280, RFC 5758).
const COMMON_NAME = '550403';
const SUBJECT_KEY_ID = '551d0e';
const KEY_USAGE = '551d0f';
const ALTERNATIVE_NAMES = '551d11';
const BASIC_CONSTRAINTS = '551d13';
const AUTHORITY_KEY_ID = '551d23';
const EXTENDED_KEY_USAGE = '551d25';
const SERVER_AUTH = '2b06010505070301';
const ECDSA_WITH_SHA256 = '2a8648ce3d040302';

const VERSION_3 = Buffer.of(2);
const NO_UNUSED_BITS = Buffer.of(0);
/** The first bit, with seven unused ones. */
const DIGITAL_SIGNATURE = Buffer.of(7, 0x80);
const CRITICAL = der(BOOLEAN, Buffer.of(0xff));
const SIGNED_WITH = sequence(oid(ECDSA_WITH_SHA256));

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(content.length);
  const length = bytes.subarray(bytes.findIndex((byte) => byte > 0));
  const head = content.length < 0x80 ? [content.length] : [0x80 | length.length, ...length];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(SEQUENCE, ...parts);
}

function oid(hex: string): Buffer {
  return der(OID, Buffer.from(hex, 'hex'));
}

const set = (...parts: readonly Buffer[]): Buffer => der(SET, ...parts);

/** Of bytes whose first bit is 0: else it would be negative. */
const integer = (bytes: Buffer): Buffer => der(INTEGER, bytes);

const extension = (id: string, value: Buffer, ...critical: readonly Buffer[]): Buffer =>
  sequence(oid(id), ...critical, der(OCTETS, value));

/** Until 2049 a year has two digits (RFC 5280, 4.1.2.5). */
function time(at: number): Buffer {
  const text = `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`;
  return text < '2050' ? der(UTC_TIME, Buffer.from(text.slice(2))) : der(TIME, Buffer.from(text));
}

function alternativeName(name: string): Buffer {
  if (!ipaddr.isValid(name)) return der(CONTEXT | 2, Buffer.from(name));
  return der(CONTEXT | 7, Buffer.from(ipaddr.parse(name).toByteArray()));
}

const pem = (bytes: Buffer): string => {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
};
