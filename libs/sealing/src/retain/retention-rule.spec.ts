import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dropRules, type SegmentFacts } from './retention-rule.js';

const DAY_MS = 24 * 3_600_000;
const NOW = Date.UTC(2026, 10, 18);
const TENANTS = ['acme', 'held', 'other', ''];

describe('the rule by which a segment of the archive may be dropped', () => {
  it('keeps segments that are young, held, permanent or open, and no others', () => {
    const ages = fc.dictionary(fc.constantFrom(...TENANTS), fc.integer({ min: 0, max: 40 * DAY_MS }), { minKeys: 1 });
    const days = fc.dictionary(fc.constantFrom(...TENANTS), fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }));
    fc.assert(
      fc.property(ages, days, fc.boolean(), (aged, configured, hasOpen) => {
        const facts: SegmentFacts = {
          hasOpen,
          isHeld: false,
          lastEnds: new Map(Object.entries(aged).map(([tenant, age]) => [tenant, NOW - age])),
        };
        const rules = dropRules(facts, (tenant) => configured[tenant], NOW);
        const mustStay =
          hasOpen || Object.entries(aged).some(([tenant, age]) => age < (configured[tenant] ?? Number.POSITIVE_INFINITY) * DAY_MS);
        const expected = Object.keys(aged).map((tenantId) => ({ tenantId, days: configured[tenantId] }));
        expect(rules).toEqual(mustStay ? undefined : expected);
      }),
      { numRuns: 500 },
    );
  });
});
