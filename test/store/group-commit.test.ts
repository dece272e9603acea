import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createUndo } from '../../src/store/engine/sqlite/connection.ts';
import { groupCommit } from '../../src/store/engine/sqlite/group-commit.ts';

/** A group commit that writes down what happens: each transaction that runs, and each commit. */
function openLog() {
  const database = new DatabaseSync(':memory:');
  database.exec('create table names (name text)');
  const log: string[] = [];
  const undo = createUndo(database);
  const clock = { ms: 0 };
  const { transaction } = groupCommit(
    database,
    undo,
    async () => void log.push('commit'),
    () => clock.ms,
  );
  const add = (name: string) => transaction(async () => log.push(name));
  const write = (name: string) => database.prepare('insert into names values (?)').run(name);
  /** Runs a transaction that writes its name, and a second name in a part that fails. */
  const addInParts = (name: string) =>
    transaction(async () => {
      log.push(name);
      write(name);
      await undo
        .nested(async () => {
          write(`${name} in part`);
          throw new Error('no');
        })
        .catch(() => {});
    });
  /** Runs a transaction that fails, after it has written its name or before. */
  const fail = (name: string, written: boolean) =>
    transaction(async () => {
      log.push(name);
      if (written) write(name);
      throw new Error(`no ${name}`);
    });
  const names = () => database.prepare('select name from names').all();
  return { log, clock, add, addInParts, fail, names };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

describe('the transactions that wait', () => {
  it('share a commit with those that arrive beside them in the turns after', async () => {
    const { log, add } = openLog();
    const first = [add('a'), add('b')];
    await nextTurn();
    const later = [add('c')];
    await nextTurn();
    later.push(add('d'));
    await Promise.all([...first, ...later]);
    expect(log).toEqual(['a', 'b', 'c', 'd', 'commit']);
  });

  it('wait for nobody when there is one', async () => {
    const { log, add } = openLog();
    const alone = add('a');
    await nextTurn();
    expect(log).toEqual(['a', 'commit']);
    await alone;
  });

  it('wait no longer than a turn in which none has come', async () => {
    const { log, add } = openLog();
    const both = [add('a'), add('b')];
    await nextTurn();
    expect(log).toEqual([]);
    await nextTurn();
    expect(log).toEqual(['a', 'b', 'commit']);
    await Promise.all(both);
  });

  it('wait two turns more when they are fewer than in the last commit', async () => {
    const { log, add } = openLog();
    await Promise.all([add('a'), add('b'), add('c')]);
    const again = [add('a')];
    await turns(2);
    again.push(add('b'));
    await turns(2);
    again.push(add('c'));
    await Promise.all(again);
    expect(log.join(' ')).toBe('a b c commit a b c commit');
  });

  it('wait no longer than that when no others come back', async () => {
    const { log, add } = openLog();
    await Promise.all([add('a'), add('b'), add('c')]);
    const alone = add('d');
    await turns(3);
    expect(log.slice(4)).toEqual(['d', 'commit']);
    await alone;
    const next = add('e');
    await nextTurn();
    expect(log.slice(6)).toEqual(['e', 'commit']);
    await next;
  });

  it('wait five milliseconds at the most, though each turn brings more', async () => {
    const { log, clock, add } = openLog();
    const all = [add('0'), add('1')];
    for (let turn = 2; turn < 20; turn += 1) {
      await nextTurn();
      clock.ms += 1;
      all.push(add(String(turn)));
    }
    await Promise.all(all);
    expect(log.indexOf('commit')).toBe(7);
  });

  it('are committed when they are many, though each turn brings more', async () => {
    const { log, add } = openLog();
    const all = [add('0'), add('1')];
    for (let turn = 2; turn < 300; turn += 1) {
      await nextTurn();
      all.push(add(String(turn)));
    }
    await Promise.all(all);
    expect(log.indexOf('commit')).toBe(256);
  });
});

describe('a transaction that fails', () => {
  it('is undone alone, and runs once as the others of its batch', async () => {
    const { log, add, addInParts, fail, names } = openLog();
    const outcomes = await Promise.allSettled([add('a'), fail('b', true), addInParts('c'), fail('d', false), add('e')]);
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, false, true]);
    expect(log).toEqual(['a', 'b', 'c', 'd', 'e', 'commit']);
    expect(names()).toEqual([{ name: 'c' }]);
  });

  it('is undone in the part that has failed, though it goes on itself', async () => {
    const { log, addInParts, names } = openLog();
    await addInParts('a');
    expect(log).toEqual(['a', 'commit']);
    expect(names()).toEqual([{ name: 'a' }]);
  });
});
