import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Redactor } from '../redactor.js';
import { KnownValues } from './known-values.js';

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 6 });

/** The same, by looking at every value. */
function expected(values: readonly string[], rest: string, final: boolean): number | 'undecided' | undefined {
  if (!final && values.some((value) => value.length > rest.length && value.startsWith(rest))) return 'undecided';
  const found = values.filter((value) => rest.startsWith(value)).map(({ length }) => length);
  return found.length === 0 ? undefined : Math.max(...found);
}

describe('known values', () => {
  it('finds the longest known value at a position, the same as by comparing each', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), word, fc.nat(6), fc.boolean(), (values, text, start, final) => {
        expect(new KnownValues(values).longestAt(text, start, final)).toBe(expected(values, text.slice(start), final));
      }),
    );
  });

  it('removes thousands of known values with one beginning from a text that repeats it', () => {
    const values = Array.from({ length: 4_000 }, (_, index) => `sEcret-of-mine-${index}x`);
    const redactor = Redactor.of({ values });
    const noise = 'sEcret-of-mine-'.repeat(60_000);
    const from = process.cpuUsage();
    expect(redactor.text(`${noise}${values.join(' ')}${noise}`)).toBe(`${noise}${values.map(() => '[REDACTED]').join(' ')}${noise}`);
    const { user, system } = process.cpuUsage(from);
    // Limit in µs: the search takes half a second, or 100 s with a comparison of each value at each place.
    expect(user + system).toBeLessThan(20_000_000);
  });
});
