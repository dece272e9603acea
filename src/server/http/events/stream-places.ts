/** How many streams may be open at one time, and of one token. */
const [MAX_STREAMS, MAX_STREAMS_PER_TOKEN] = [128, 16];

/** Limits how many streams of events are open at one time. */
export interface StreamPlaces {
  /** Takes one of the places of a token; false when there is none. */
  enter(tokenId: string): boolean;
  leave(tokenId: string): void;
}

/** Makes the places of one server. */
export function createStreamPlaces(): StreamPlaces {
  const open = new Map<string, number>();
  let total = 0;
  return {
    enter(tokenId) {
      const own = open.get(tokenId) ?? 0;
      if (total >= MAX_STREAMS || own >= MAX_STREAMS_PER_TOKEN) return false;
      total += 1;
      open.set(tokenId, own + 1);
      return true;
    },
    leave(tokenId) {
      const own = (open.get(tokenId) ?? 1) - 1;
      total -= 1;
      if (own > 0) open.set(tokenId, own);
      else open.delete(tokenId);
    },
  };
}
