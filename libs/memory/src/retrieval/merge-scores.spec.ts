import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mergeScores } from './merge-scores.js';
import { textScores } from './text-scores.js';

const scores = fc
  .dictionary(
    fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    fc.integer({ min: -100, max: 150 }).map((hundredths) => hundredths / 100),
  )
  .map((found) => new Map(Object.entries(found)));
const weights = fc
  .record({ text: fc.double({ min: 0, max: 1, noNaN: true }), vector: fc.double({ min: 0, max: 1, noNaN: true }) })
  .filter(({ text, vector }) => text + vector > 1e-6);

describe('merged scores', () => {
  it('merges scores from 0 to 1 in falling order, each result once and none without a score', () => {
    fc.assert(
      fc.property(scores, scores, weights, (text, vector, weight) => {
        const merged = mergeScores({ text, vector }, weight);
        expect(new Set(merged.map(({ id }) => id)).size).toBe(merged.length);
        for (const [index, { id, score }] of merged.entries()) {
          expect(text.has(id) || vector.has(id)).toBe(true);
          expect(score).toBeGreaterThan(0);
          expect(score).toBeLessThanOrEqual(1 + 1e-9);
          expect(score).toBeLessThanOrEqual(merged[index - 1]?.score ?? Infinity);
        }
      }),
    );
  });

  it('ranks by one kind of score alone if the other weight is 0 [TB-74]', () => {
    fc.assert(
      fc.property(scores, scores, (text, vector) => {
        expect(mergeScores({ text, vector }, { text: 1, vector: 0 })).toEqual(
          mergeScores({ text, vector: new Map() }, { text: 0.5, vector: 0 }),
        );
        expect(mergeScores({ text, vector }, { text: 0, vector: 1 })).toEqual(
          mergeScores({ text: new Map(), vector }, { text: 0, vector: 0.5 }),
        );
      }),
    );
  });

  it('scores words by the share of the query that a text has: rare words count more than common ones', () => {
    const texts = new Map([
      ['both', 'the zebra'],
      ['rare', 'a zebra'],
      ['common', 'the horse'],
      ['other', 'the the the'],
    ]);
    const found = textScores(['the', 'zebra'], texts, 100);
    expect(found.get('both')).toBeCloseTo(1);
    expect(found.get('rare')).toBeGreaterThan(found.get('common') ?? 1);
    expect(found.get('common')).toBe(found.get('other'));
  });
});
