import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AgentSourceDefinition, type AgentBudget } from '#contracts';
import { limitsOf } from './limits.js';

const definition = AgentSourceDefinition.parse({
  kind: 'agent',
  name: 'helper',
  model: { provider: 'openai-compatible', name: 'm', url: 'https://models.example.com/v1' },
  maxDepth: 3,
  budgets: { tokens: 1_000, modelMs: 60_000, calls: 50 },
});
const run = (above: number, budget?: AgentBudget) => ({ above, ...(budget && { budget }), recordTurn: () => Promise.resolve() });
const amount = fc.integer({ min: 0, max: 100_000 });

describe('the limits of a sub-agent', () => {
  it('limits a sub-agent by its definition, and never to more than the one above leaves', () => {
    expect(limitsOf(definition, run(0))).toMatchObject({ depth: 3, tokens: 1_000, modelMs: 60_000, calls: 50 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), amount, amount, amount, (depth, tokens, modelMs, calls) => {
        expect(limitsOf(definition, run(1, { depth, tokens, modelMs, calls }))).toMatchObject({
          depth: Math.min(3, depth),
          tokens: Math.min(1_000, tokens),
          modelMs: Math.min(60_000, modelMs),
          calls: Math.min(50, calls),
        });
      }),
    );
  });

  it('refuses a run below a sub-agent that has no levels or budget left [TS-42]', () => {
    const plenty = { tokens: 1_000, modelMs: 60_000, calls: 50 };
    for (const budget of [undefined, { ...plenty, depth: 0 }, { ...plenty, depth: -1 }])
      expect(() => limitsOf(definition, run(1, budget))).toThrow('was called by a sub-agent that may not call any');
  });
});
