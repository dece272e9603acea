import { cryptolens } from './cryptolens.ts';
import { dodo } from './dodo.ts';
import { gumroad } from './gumroad.ts';
import { keygen } from './keygen.ts';
import { lemonsqueezy } from './lemonsqueezy.ts';
import { licenseManager } from './license-manager.ts';
import { licensespring } from './licensespring.ts';
import { polar } from './polar.ts';
import type { Preset } from './preset.ts';
import type { SystemName } from './systems.ts';

export const presets: Readonly<Record<SystemName, Preset>> = {
  lemonsqueezy,
  keygen,
  cryptolens,
  licensespring,
  'license-manager': licenseManager,
  polar,
  dodo,
  gumroad,
};
