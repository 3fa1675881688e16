import { expect, it } from '@jest/globals';
import { coalesce } from './coalesce.js';

it('runs once more after all requests during a run, also if the run failed', async () => {
  const gates: (() => void)[] = [];
  const ask = coalesce(() => new Promise<void>((_done, fail) => gates.push(() => fail(new Error('away')))));
  const turn = () => new Promise(setImmediate);
  for (let each = 0; each < 50; each++) ask();
  expect(gates.length).toBe(1);
  gates[0]?.();
  await turn();
  expect(gates.length).toBe(2);
  gates[1]?.();
  await turn();
  expect(gates.length).toBe(2);
  ask();
  expect(gates.length).toBe(3);
});
