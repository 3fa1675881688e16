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
      report: (error) => errors.push(error),
    });
    loop.start();
    loop.start();
    await done;
    const { failure } = loop;
    await loop.close();
    return { rounds, errors, failure };
  };

  it('repeats rounds at once while there is more, then pauses, and stops within the pause when closed', async () => {
    expect(await record([true, true, false])).toEqual({ rounds: 3, errors: [], failure: undefined });
  });

  it('reports a round that failed, and makes the process unready only when it is vital', async () => {
    const failed = new Error('the store is full');
    expect(await record([true, failed])).toEqual({ rounds: 2, errors: [failed], failure: 'the store is full' });
    expect(await record([failed], false)).toMatchObject({ failure: undefined });
  });

  it('waits for the round under way when the loop is closed, and reports no failure of it', async () => {
    const errors: unknown[] = [];
    const round = (signal: AbortSignal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    const loop = new RoundLoop({ name: 'test', pauseMs: NEVER_MS, round, report: (error) => errors.push(error) });
    loop.start();
    await loop.close();
    expect(errors).toEqual([]);
  });

  it('reports a failure that lasts once a minute, another cause at once, and the same again after a round that worked', async () => {
    const full = (file: string) => Object.assign(new Error(`ENOSPC: no space left on device, open '${file}'`), { code: 'ENOSPC' });
    const answers = [full('a'), full('b'), new Error('denied'), new Error('denied'), full('c'), 'works', full('d'), full('e'), full('f')];
    const times = [0, 1, 2, 3, 4, 0, 5, 60_004, 60_006];
    const reported: string[] = [];
    let failures = 0;
    let rounds = 0;
    await new Promise<void>((resolve) => {
      const loop = new RoundLoop({
        name: 'test',
        pauseMs: 0,
        round: async () => {
          const answer = answers[rounds++];
          if (answer === undefined) setImmediate(() => void loop.close().then(resolve));
          if (answer instanceof Error) throw answer;
        },
        onFailure: () => failures++,
        report: (error) => reported.push(error instanceof Error ? error.message.slice(-3) : ''),
        now: () => times[rounds - 1] ?? 0,
      });
      loop.start();
    });
    expect(reported).toEqual(["'a'", 'ied', "'c'", "'d'", "'f'"]);
    expect(failures).toBe(8);
  });
});
