import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const ENOUGH_BYTES = 32 * 1_048_576;

/**
 * Stops the growth of the young generation of the heap at 32 MiB. V8 would let it grow to 128 MiB under load, which
 * answers no more requests per second.
 */
export function boundYoungGeneration(): void {
  const watch = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (young === undefined || young.space_size < ENOUGH_BYTES) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    watch.disconnect();
  });
  watch.observe({ entryTypes: ['gc'] });
}
