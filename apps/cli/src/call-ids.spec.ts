import { describe, expect, it } from '@jest/globals';
import { isNamed } from './call-ids.js';

describe('a call named by a part of its id', () => {
  const id = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';

  it.each(['6K8N0P1V', '6K8N', '0P1V', 'T2M6K8N0P1V'])('is found by %s', (part) => expect(isNamed(id, part)).toBe(true));

  it.each(['01JZ', 'K8N0', '6K8N0P1W'])('is not found by %s', (part) => expect(isNamed(id, part)).toBe(false));
});
