import { describe, expect, it } from '@jest/globals';
import { outputOf, retryAfterMs } from './response-output.js';

describe('an answer as text', () => {
  const asked = { operation: { parameters: [] }, url: new URL('https://api.example.com/x') };

  it('shows 64 KiB of an answer’s body in whole characters, and states what is omitted', () => {
    const body = Buffer.from(`a${'é'.repeat(40_000)}`);
    const headers = new Headers({ 'content-type': 'text/plain' });
    const output = outputOf({ method: 'GET', url: 'https://api.example.com/x', status: 200, headers, body }, asked);
    const text = `GET https://api.example.com/x → 200\n\na${'é'.repeat(32_767)}\n... [truncated]`;
    expect(output).toMatchObject({ content: [{ type: 'text', text }], seenBytes: 80_001 });
  });
});

describe('Retry-After', () => {
  it('reads Retry-After as seconds or a date, and ignores anything else', () => {
    const now = Date.parse('2030-01-01T00:00:00Z');
    const of = (header: string | null) => retryAfterMs(header, now);
    expect([of('0'), of('120'), of(' 7 ')]).toEqual([0, 120_000, 7_000]);
    expect([of('Tue, 01 Jan 2030 00:01:00 GMT'), of('Mon, 31 Dec 2029 00:00:00 GMT')]).toEqual([60_000, 0]);
    expect([null, '', '-1', '1.5', 'soon', '1e9', '99999999999', '2030-02-01', 'Xyz, nothing'].map(of)).toEqual(Array(9).fill(0));
  });
});
