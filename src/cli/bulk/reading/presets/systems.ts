/** The systems whose files `keys import --from` reads. */
export const systems = [
  'lemonsqueezy',
  'keygen',
  'cryptolens',
  'licensespring',
  'license-manager',
  'polar',
  'dodo',
  'gumroad',
] as const;

export type SystemName = (typeof systems)[number];
