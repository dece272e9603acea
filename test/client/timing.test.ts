import { expect, test } from 'vitest';
import { systemTiming } from '../../src/client/timing.ts';

test('a sleep ends with the signal’s reason', async () => {
  const controller = new AbortController();
  const sleeping = systemTiming.sleep(60_000, controller.signal);
  controller.abort('stop');
  await expect(sleeping).rejects.toBe('stop');
});

test('a sleep longer than a timer can count does not end at once', async () => {
  const controller = new AbortController();
  const sleeping = systemTiming.sleep(2 ** 40, controller.signal).then(
    () => 'woke',
    () => 'slept',
  );
  await systemTiming.sleep(5);
  controller.abort();
  expect(await sleeping).toBe('slept');
});

test('keys are unique', () => {
  expect(systemTiming.newKey()).not.toBe(systemTiming.newKey());
});
