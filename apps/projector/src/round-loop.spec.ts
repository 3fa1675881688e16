import { describe, expect, it } from '@jest/globals';
import { RoundLoop } from './round-loop.js';

const NEVER_MS = 3_600_000;

describe('a loop of rounds', () => {
  const record = async (answers: readonly (boolean | Error)[], isVital = true) => {
    const errors: unknown[] = [];
    let rounds = 0;
    let last = () => {};
    const done = new Promise<void>((resolve) => (last = resolve));
    const loop = new RoundLoop({
      name: 'test',
      isVital,
      pauseMs: NEVER_MS,
      round: () => {
        const answer = answers[rounds++];
        if (rounds === answers.length) setImmediate(last);
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      onError: (error) => errors.push(error),
    });
    loop.start();
    loop.start();
    await done;
    const { failure } = loop;
    await loop.close();
    return { rounds, errors, failure };
  };

  it('goes on at once while there is more, then pauses, and ends in the pause when it is closed', async () => {
    expect(await record([true, true, false])).toEqual({ rounds: 3, errors: [], failure: undefined });
  });

  it('reports a round that failed, and makes the process unready only when it is vital', async () => {
    const failed = new Error('the store is full');
    expect(await record([true, failed])).toEqual({ rounds: 2, errors: [failed], failure: 'the store is full' });
    expect(await record([failed], false)).toMatchObject({ failure: undefined });
  });

  it('waits for the round under way when it is closed, and reports no failure of it', async () => {
    const errors: unknown[] = [];
    const round = (signal: AbortSignal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    const loop = new RoundLoop({ name: 'test', pauseMs: NEVER_MS, round, onError: (error) => errors.push(error) });
    loop.start();
    await loop.close();
    expect(errors).toEqual([]);
  });
});
