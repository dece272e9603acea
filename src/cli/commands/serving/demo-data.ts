/** What the demonstration shop sells. */
export const demoProducts = [
  { name: 'Engine Pro', versions: ['1.0', '1.1', '2.0'], isFloating: false },
  { name: 'Studio', versions: ['2026.1', '2026.2'], isFloating: false },
  { name: 'Render Farm', versions: ['5.3'], isFloating: true },
] as const;

/** A customer of the demonstration shop. */
export interface DemoCustomer {
  readonly name: string;
  readonly email: string;
}

/** Who buys it: invented companies, at addresses that lead nowhere (RFC 2606). */
export const demoCustomers: readonly DemoCustomer[] = [
  'Ada Analytics',
  'Aurora Games',
  'Birchwood Design',
  'Blue Harbor Media',
  'Brücke & Söhne',
  'Cedar Labs',
  'Copperfield Studios',
  'Delta Robotics',
  'Fjord Systems',
  'Granite Press',
  'Hanami Arts',
  'Ivy Street Software',
  'Juniper Health',
  'Kestrel Maps',
  'Lumière Films',
  'Meridian Audio',
  'Northwind Tools',
  'Orchard Bank',
  'Pico Instruments',
  'Quill & Ink',
  'Río Verde Energía',
  'Saffron Foods',
  'Tidal Research',
  'Umbra Optics',
].map((name) => ({ name, email: `it@${domainOf(name)}.example` }));

function domainOf(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/[^a-zA-Z0-9]+/g, ' ')
    .trim()
    .replaceAll(' ', '-')
    .toLowerCase();
}

/** What devices are called. */
export const demoHosts = ['build', 'ci', 'desk', 'laptop', 'mac', 'render', 'studio', 'ws'] as const;

/** How keys are sold: slots, months, and how often. */
export const demoPlans = [
  { plan: 'solo', slots: 1, months: 12, weight: 5 },
  { plan: 'team', slots: 5, months: 12, weight: 6 },
  { plan: 'business', slots: 25, months: 24, weight: 2 },
  { plan: 'site', slots: null, months: null, weight: 1 },
  { plan: 'trial', slots: 2, months: 1, weight: 3 },
] as const;
