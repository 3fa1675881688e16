import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { CallEvent, EndData } from '#contracts';
import { EventSequenceVerifier } from './event-sequence-verifier.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const line = (text: string) => `${JSON.stringify([{ type: 'text', text }])}\n`;

/** Verifier after attempts with these texts of updates. */
function trackOf(...attempts: string[][]): EventSequenceVerifier {
  const track = new EventSequenceVerifier();
  const sent = attempts.flatMap((texts) => [
    { type: 'call.start', data: {} },
    ...texts.map((text) => ({ type: 'call.update', data: { content: [{ type: 'text', text }] } })),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a track looks at
  for (const [index, event] of sent.entries()) track.take({ ...event, callver: index + 1 } as CallEvent);
  return track;
}
const end = (updates?: EndData['updates']): EndData => ({ outcome: 'completed', attempts: 1, ...(updates ? { updates } : {}) });

describe('EventSequenceVerifier', () => {
  it('verifies the updates of all attempts against End, with the digests of earlier attempts', async () => {
    const first = sha256(line('a') + line('b'));
    expect(await trackOf(['a', 'b']).verify(end({ count: 2, sha256: first }))).toBeUndefined();
    const both = { count: 3, sha256: sha256(`${first}\n${line('c')}`) };
    expect(await trackOf(['a', 'b'], [], ['c']).verify(end(both))).toBeUndefined();
    expect(await trackOf(['a', 'B'], [], ['c']).verify(end(both))).toMatch(/^the SHA-256 of its 3 updates is /);
    expect(await trackOf(['a'], ['c']).verify(end(both))).toBe('its End counts 3 updates, 2 were received');
    expect(await trackOf([]).verify(end({ count: 0, sha256: sha256('') }))).toBeUndefined();
  });

  it('accepts Ends of earlier releases, which cover the last attempt or nothing', async () => {
    const ofLast = { count: 1, sha256: sha256(line('c')) };
    expect(await trackOf(['a', 'b'], ['c']).verify(end(ofLast))).toBeUndefined();
    expect(await trackOf(['a', 'b'], ['x']).verify(end(ofLast))).toBe('its End counts 1 updates, 3 were received');
    expect(await trackOf(['a']).verify(end())).toBeUndefined();
  });
});
