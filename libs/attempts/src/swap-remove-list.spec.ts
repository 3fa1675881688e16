import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SwapRemoveList } from './swap-remove-list.js';

describe('SwapRemoveList', () => {
  it('contains the same as a Set after any additions and removals', () => {
    const member = fc.nat(8);
    fc.assert(
      fc.property(fc.array(fc.record({ come: fc.boolean(), member })), (steps) => {
        const passersBy = new SwapRemoveList<number>();
        const oracle = new Set<number>();
        for (const step of steps) {
          if (!step.come) passersBy.delete(step.member);
          else if (!oracle.has(step.member)) passersBy.add(step.member);
          if (step.come) oracle.add(step.member);
          else oracle.delete(step.member);
          expect(passersBy.size).toBe(oracle.size);
          expect(new Set(passersBy.all())).toEqual(oracle);
        }
      }),
    );
  });
});
