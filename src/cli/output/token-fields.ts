import type { Field } from './result.ts';
import { relative } from './words.ts';

export const tokenFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'kind' },
  { name: 'expiresAt', label: 'expires', show: (value, now) => (value === null ? 'never' : relative(value, now)) },
  { name: 'revokedAt', label: 'revoked', show: (value, now) => (value === null ? 'no' : relative(value, now)) },
  { name: 'createdAt', shown: 'data' },
  { name: 'issued', shown: 'data' },
  { name: 'maxIssues', shown: 'data' },
  { name: 'scopes', shown: 'chosen' },
  { name: 'productIds', shown: 'chosen' },
];
