import { describe, expect, it } from '@jest/globals';
import { roundedPeriod, seriesPeriod } from './period.js';

const NOW = Date.UTC(2026, 0, 31);

describe('the period of numbers', () => {
  it.each([
    ['0000-01-01T00:00:00Z', undefined],
    ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['0001-01-01T00:00:00+23:59', '9999-12-31T23:59:59Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59-23:59'],
    [undefined, '0001-01-01T00:00:00Z'],
  ])('bounds the period from %s to %s to times that a database can read', (since, until) => {
    for (const { since: from, until: to } of [seriesPeriod({ since, until }, NOW), roundedPeriod({ since, until }, NOW)]) {
      expect(new Date(from).toISOString()).toMatch(/^(19[67]\d|[2-9]\d{3})-/);
      expect(new Date(to).toISOString()).toMatch(/^(19[67]\d|[2-9]\d{3})-/);
      expect(from).toBeLessThan(to);
    }
  });
});
