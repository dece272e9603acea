import { audit } from './audit.ts';
import { customers } from './customers.ts';
import { devices, keyDevices } from './devices.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { events } from './events.ts';
import { keyChanges } from './keys/changes.ts';
import { keyImport } from './keys/import.ts';
import { keys, keyWhy } from './keys/keys.ts';
import { customerKeys, keyLists } from './keys/lists.ts';
import { keyTrials } from './keys/trials.ts';
import { plans } from './plans.ts';
import { products, productVersions } from './products.ts';
import { search } from './search.ts';
import { keySessions, sessions } from './sessions.ts';
import { revocations, signingKeys } from './signing-keys.ts';
import { stats } from './stats.ts';
import { tokens } from './tokens.ts';
import { webhookDeliveries, webhooks } from './webhooks.ts';

/** The version of the contract, a date. Source: API description, "Versioning", 1. */
export const apiVersion = '2026-11-21';

/** Every operation of the service. Routing, parsing, the client, the OpenAPI document and the command are made from it. */
export const contract = {
  keys: { ...keys, ...keyLists, ...keyDevices, ...keySessions, ...keyWhy, ...keyChanges, ...keyImport, ...keyTrials },
  devices,
  sessions,
  customers: { ...customers, ...customerKeys },
  products: { ...products, ...productVersions },
  plans,
  tokens,
  signingKeys,
  revocations,
  events,
  audit,
  webhooks: { ...webhooks, ...webhookDeliveries },
  stats,
  search,
};

export type Contract = typeof contract;

/** A description of each resource, for readers of the documentation. */
export const resources: Readonly<Record<keyof Contract, string>> = {
  keys: 'Licence keys, their devices and their sessions.',
  devices: 'The devices of all licence keys.',
  sessions: 'The sessions of floating licence keys.',
  customers: 'The customers that licence keys belong to.',
  products: 'The software titles that keys are issued for.',
  plans: 'What keys of a product are issued with, under a name.',
  tokens: 'The credentials of this API.',
  signingKeys: 'The keys that sign licence files. Their public halves are open to everybody.',
  revocations: 'The revoked licence files, as a signed list. It is open to everybody.',
  events: 'What happened, in numbered order.',
  audit: 'Who did what and when, in a chain of hashes with signed checkpoints.',
  webhooks: 'The addresses that events are sent to.',
  stats: 'Statistics of keys, devices, sessions and customers.',
  search: 'Customers and keys by any part of what somebody has of them.',
};

/** One endpoint with the name it has everywhere: `keys.create`. */
export interface NamedEndpoint {
  readonly name: string;
  readonly endpoint: AnyEndpoint;
}

/** Every endpoint, in the order of the contract. */
export function listEndpoints(): readonly NamedEndpoint[] {
  return Object.entries(contract).flatMap(([resource, endpoints]) =>
    Object.entries(endpoints).map(([name, endpoint]) => ({ name: `${resource}.${name}`, endpoint })),
  );
}
