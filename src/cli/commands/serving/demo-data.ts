/** What the demonstration shop sells. */
export const demoProducts = [
  { name: 'Engine Pro', versions: ['1.0', '1.1', '2.0'], isFloating: false },
  { name: 'Studio', versions: ['2026.1', '2026.2'], isFloating: false },
  { name: 'Render Farm', versions: ['5.3'], isFloating: true },
] as const;

const companies =
  'Ada Analytics, Aurora Games, Birchwood Design, Blue Harbor Media, Brücke & Söhne, Cedar Labs, Copperfield Studios, ' +
  'Delta Robotics, Fjord Systems, Granite Press, Hanami Arts, Ivy Street Software, Juniper Health, Kestrel Maps, ' +
  'Lumière Films, Meridian Audio, Northwind Tools, Orchard Bank, Pico Instruments, Quill & Ink, Río Verde Energía, ' +
  'Saffron Foods, Tidal Research, Umbra Optics';

/** Who buys it: invented companies, at addresses that lead nowhere (RFC 2606). */
export const demoCustomers = companies.split(', ').map((name) => ({ name, email: `it@${domainOf(name)}.example` }));

function domainOf(name: string): string {
  const words = name.normalize('NFD').replaceAll(/[^a-zA-Z0-9]+/g, ' ');
  return words.trim().replaceAll(' ', '-').toLowerCase();
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

/** Choices that look random and are the same for the same seed. */
export interface SeededRandom {
  one<T>(things: readonly T[]): T;
  /** 0 to `max`. */
  upTo(max: number): number;
  happens(probability: number): boolean;
}

/** The choices of a seed: mulberry32, which is small and even enough for a demonstration. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    one: <T>(things: readonly T[]) => things[Math.floor(next() * things.length)] as T,
    upTo: (max) => Math.floor(next() * (max + 1)),
    happens: (probability) => next() < probability,
  };
}
