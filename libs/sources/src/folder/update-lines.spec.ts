import { expect, it } from '@jest/globals';
import { MessageBudget } from '#timing';
import { UpdateLines } from './update-lines.js';

it('reads no more updates of a folder tool that floods, and reports it once', () => {
  let updates = 0;
  let floods = 0;
  const budget = new MessageBudget(() => 0);
  budget.onExceeded = () => (floods += 1);
  const lines = new UpdateLines({ onUpdate: () => (updates += 1), onProgress: () => {} }, budget);
  const chunk = Buffer.from('{"update":"x"}\n'.repeat(4_000));
  for (let sent = 0; sent < 20; sent += 1) lines.accept(chunk);
  expect(updates).toBe(16_000);
  expect(floods).toBe(1);
  expect(budget.exceeded).toMatch(/more than \d+ messages a second/);
});
