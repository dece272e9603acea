import type { Field } from './result.ts';
import { relative, yesNo } from './words.ts';

export const productFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'active', show: yesNo },
  { name: 'createdAt', label: 'created', show: relative },
  { name: 'updatedAt', shown: 'data' },
];
