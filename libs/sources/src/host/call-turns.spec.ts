import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { CallTurns } from './call-turns.js';

describe('the turns of calls', () => {
  it('gives turns of calls to others when a call ends, fails or gives up waiting', async () => {
    const turns = new CallTurns(1);
    const log: string[] = [];
    const faults: string[] = [];
    const begun = (name: string) => eventually(() => log.at(-1) === name, `${name} to begin`);
    const go = new Map<string, () => void>();
    const run = (name: string, signal = new AbortController().signal) =>
      turns
        .run(signal, async () => {
          log.push(name);
          await new Promise<void>((resolve) => go.set(name, resolve));
          if (name === 'fails') throw new Error('failed');
        })
        .catch((error: Error) => void faults.push(error.message));
    const impatient = new AbortController();
    const all = [run('first'), run('impatient', impatient.signal), run('fails'), run('last')];
    expect(log).toEqual(['first']);
    impatient.abort(new Error('gave up'));
    await all[1];
    expect(faults).toEqual(['gave up']);
    go.get('first')?.();
    await begun('fails');
    go.get('fails')?.();
    await begun('last');
    go.get('last')?.();
    await Promise.all(all);
    expect([log, faults]).toEqual([
      ['first', 'fails', 'last'],
      ['gave up', 'failed'],
    ]);
  });
});
