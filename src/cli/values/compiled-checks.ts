import { z } from 'zod';

/**
 * Has the checks of the contract compiled when they first run, or not: that takes longer than the checks of one command.
 * To be called before the contract is loaded, whose schemas ask once.
 */
export function compileChecks(isWorthIt: boolean): void {
  z.config({ jitless: !isWorthIt });
}
