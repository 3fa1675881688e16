import { describe, expect, it } from '@jest/globals';
import { TenantTurns } from './tenant-turns.js';

const turnsOf = (atOnce: number, waiting: number, allAtOnce = 9) => new TenantTurns({ atOnce, waiting, allAtOnce, what: 'questions' });

describe('the turns of tenants', () => {
  const open = (turns: TenantTurns, begun: string[]) => (tenantId: string, name: string) => {
    let [end, fail] = [() => {}, () => {}];
    const ended = new Promise<string>((resolve, reject) => {
      end = () => resolve(name);
      fail = () => reject(new Error(name));
    });
    const ask = () => {
      begun.push(name);
      return ended;
    };
    return { answer: turns.run(tenantId, ask), end, fail };
  };

  it('runs some questions of each tenant, the others in their order, also after one that failed', async () => {
    const begun: string[] = [];
    const ask = open(turnsOf(1, 2), begun);
    const [first, second, third, other] = [ask('a', '1'), ask('a', '2'), ask('a', '3'), ask('b', '4')];
    expect(begun).toEqual(['1', '4']);
    first.fail();
    await expect(first.answer).rejects.toThrow('1');
    second.end();
    expect(await second.answer).toBe('2');
    third.end();
    other.end();
    expect(await Promise.all([third.answer, other.answer])).toEqual(['3', '4']);
    expect(begun).toEqual(['1', '4', '2', '3']);
  });

  it('alternates between tenants while all together want more turns than may run', async () => {
    const begun: string[] = [];
    const ask = open(turnsOf(2, 9, 3), begun);
    const asked = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => ask(name.charAt(0), name));
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    for (const { end } of asked) end();
    await Promise.all(asked.map(({ answer }) => answer));
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'a4']);
  });

  it('skips waiting clients that have disconnected', async () => {
    const turns = turnsOf(1, 1);
    const begun: string[] = [];
    const ask = open(turns, begun);
    const first = ask('a', '1');
    const client = new AbortController();
    const left = turns.run('a', () => Promise.resolve('left'), client.signal);
    client.abort();
    await expect(left).rejects.toMatchObject({ code: 'too_many_requests' });
    const [third, gone] = [ask('a', '3'), AbortSignal.abort()];
    first.end();
    await first.answer;
    await expect(turns.run('a', () => Promise.resolve('late'), gone)).rejects.toMatchObject({ code: 'too_many_requests' });
    third.end();
    expect(await third.answer).toBe('3');
    expect(begun).toEqual(['1', '3']);
  });

  it('refuses the question of a tenant with too many waiting ones, until one of them runs', async () => {
    const ask = open(turnsOf(1, 1), []);
    const [first, second] = [ask('a', '1'), ask('a', '2')];
    await expect(ask('a', '3').answer).rejects.toMatchObject({ code: 'too_many_requests', facts: { retryAfterMs: 2_000 } });
    first.end();
    await first.answer;
    const fourth = ask('a', '4');
    second.end();
    fourth.end();
    expect(await Promise.all([second.answer, fourth.answer])).toEqual(['2', '4']);
  });
});
