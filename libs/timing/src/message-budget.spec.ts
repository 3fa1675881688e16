import { describe, expect, it } from '@jest/globals';
import { MessageBudget, MessageFlood } from './message-budget.js';

describe('MessageBudget', () => {
  it('refills a budget of messages with time, until it is exceeded for good', () => {
    let now = 0;
    const budget = new MessageBudget(() => now);
    let exceeded = 0;
    budget.onExceeded = () => (exceeded += 1);
    budget.spend(20_000);
    now += 1_000;
    budget.spend(5_000);
    expect(() => budget.spend(1)).toThrow(MessageFlood);
    now += 60_000;
    expect(() => budget.spend(1)).toThrow(MessageFlood);
    expect([exceeded, budget.exceeded]).toEqual([1, expect.stringContaining('messages a second')]);
  });

  it('counts a large message once per 4 KiB', () => {
    const budget = new MessageBudget(() => 0);
    for (let sent = 0; sent < 77; sent += 1) budget.spend(1, 1_048_576);
    expect(() => budget.spend(1, 1_048_576)).toThrow(MessageFlood);
  });

  it('counts a message of many values for each 64 of them', () => {
    const budget = new MessageBudget(() => 0);
    for (let sent = 0; sent < 12; sent += 1) budget.spend(1, 0, 100_000);
    expect(() => budget.spend(1, 0, 100_000)).toThrow(MessageFlood);
  });

  it.each([
    [13, false],
    [15, true],
  ])('stops a sender by the values of its results: twice %i of 10,000 each second, %s', (results, stops) => {
    let now = 0;
    const budget = new MessageBudget(() => now);
    const sendFor = (seconds: number) => {
      for (const end = now + seconds * 1_000; now < end; now += 1_000)
        for (let sent = 0; sent < 2 * results; sent += 1) budget.spend(1, 80_000, 10_010);
      return budget.exceeded;
    };
    if (stops) expect(() => sendFor(600)).toThrow(MessageFlood);
    else expect(sendFor(600)).toBeUndefined();
  });

  it('yields to others after messages that cost some milliseconds', async () => {
    const budget = new MessageBudget(() => 0);
    budget.spend(63);
    expect(budget.turn()).toBeUndefined();
    budget.spend(1);
    let isOver = false;
    setImmediate(() => (isOver = true));
    await budget.turn();
    expect([isOver, budget.turn()]).toEqual([true, undefined]);
  });

  it('keeps the first reason of a stop', () => {
    const budget = new MessageBudget(() => 0);
    expect(() => budget.stop('it sent a batch')).toThrow('it sent a batch');
    expect(() => budget.spend(1)).toThrow('it sent a batch');
  });
});
