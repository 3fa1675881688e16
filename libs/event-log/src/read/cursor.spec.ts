import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ProblemError } from '#contracts';
import { encodeVectorCursor, encodeScalarCursor, decodeVectorCursor, decodeScalarCursor } from './cursor.js';

const position = fc.record({ epoch: fc.nat(), seq: fc.maxSafeNat() });

describe('cursors', () => {
  it('reads back every map of a cursor that it wrote', () => {
    fc.assert(
      fc.property(fc.array(position, { minLength: 1, maxLength: 64 }), (positions) => {
        expect(decodeVectorCursor(encodeVectorCursor(positions), positions.length)).toEqual(positions);
      }),
    );
  });

  it('reads back every point of a cursor that it wrote', () => {
    const point = fc.record({ epoch: fc.nat(999_999_999), seq: fc.nat(999_999_999) });
    fc.assert(
      fc.property(fc.nat(255), point, (partition, at) =>
        expect(decodeScalarCursor(encodeScalarCursor(partition, at), partition)).toEqual(at),
      ),
    );
  });

  it('fits the cursor of 16 partitions into a close reason', () => {
    const positions = Array.from({ length: 16 }, () => ({ epoch: 1, seq: 200_000_000 }));
    expect(`cursor=${encodeVectorCursor(positions)}`.length).toBeLessThanOrEqual(123);
  });

  it('refuses a foreign cursor with a problem, and throws nothing else', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60, unit: 'binary-ascii' }), (text) => {
        for (const parse of [() => decodeVectorCursor(text, 16), () => decodeScalarCursor(text, 3)]) {
          try {
            parse();
          } catch (error) {
            expect(error).toBeInstanceOf(ProblemError);
          }
        }
      }),
    );
    expect(() => decodeScalarCursor('1.4.10', 3)).toThrow(ProblemError);
    expect(() => decodeVectorCursor(encodeVectorCursor([{ epoch: 1, seq: 1 }]), 16)).toThrow(ProblemError);
    expect(() => decodeVectorCursor('', 16)).toThrow(ProblemError);
  });
});
