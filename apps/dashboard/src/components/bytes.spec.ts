import { expect, it } from '@jest/globals';
import { bytesText } from './bytes.js';

it.each([
  [999, '999 B'],
  [1500, '1.5 kB'],
  [2_788_895, '2.8 MB'],
  [4_040_000_000, '4.0 GB'],
])('writes %d bytes as %s', (bytes, text) => expect(bytesText(bytes)).toBe(text));
