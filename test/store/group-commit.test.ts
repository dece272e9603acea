import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { groupCommit } from '../../src/store/engine/sqlite/group-commit.ts';

/** A group commit that writes down what happens: each transaction that runs, and each commit. */
function openLog() {
  const database = new DatabaseSync(':memory:');
  const log: string[] = [];
  const { transaction } = groupCommit(database, {
    begin: () => {},
    end: async () => void log.push('commit'),
  });
  const add = (name: string) => transaction(async () => log.push(name));
  return { log, add, [Symbol.dispose]: () => database.close() };
}

describe('the transactions that wait', () => {
  it('share a commit with those that arrive beside them in the turns after', async () => {
    using opened = openLog();
    const { log, add } = opened;
    const first = [add('a'), add('b')];
    await nextTurn();
    const later = [add('c')];
    await nextTurn();
    later.push(add('d'));
    await Promise.all([...first, ...later]);
    expect(log).toEqual(['a', 'b', 'c', 'd', 'commit']);
  });

  it('wait for nobody when there is one', async () => {
    using opened = openLog();
    const { log, add } = opened;
    const alone = add('a');
    await nextTurn();
    expect(log).toEqual(['a', 'commit']);
    await alone;
  });

  it('wait no longer than a turn in which none has come', async () => {
    using opened = openLog();
    const { log, add } = opened;
    const both = [add('a'), add('b')];
    await nextTurn();
    expect(log).toEqual([]);
    await nextTurn();
    expect(log).toEqual(['a', 'b', 'commit']);
    await Promise.all(both);
  });

  it('wait a few turns at the most, however many come', async () => {
    using opened = openLog();
    const { log, add } = opened;
    const all = [add('0'), add('1')];
    for (let turn = 2; turn < 20; turn += 1) {
      await nextTurn();
      all.push(add(String(turn)));
    }
    await Promise.all(all);
    expect(log.indexOf('commit')).toBe(6);
  });
});
