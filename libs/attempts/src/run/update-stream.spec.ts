import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import type { Content, ProgressData, UpdateData } from '#contracts';
import { NO_UPDATES, UpdatesDigest } from '#event-log';
import type { Clock } from '../clock.js';
import { UPDATE_LIMITS, UpdateStream, type UpdateFilter } from './update-stream.js';
import { anyText } from '../../../../test/support/any-text.js';

/** Clock that the test advances. */
class TestClock implements Clock {
  private time = 0;
  private timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.time + ms, run };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((other) => other !== timer));
  }

  advance(ms: number): void {
    const until = this.time + ms;
    for (;;) {
      const next = this.timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.timers = this.timers.filter((other) => other !== next);
      this.time = next.at;
      next.run();
    }
    this.time = until;
  }
}

function stream(gate?: UpdateFilter) {
  const clock = new TestClock();
  const updates: { at: number; data: UpdateData; digest: string }[] = [];
  const progress: { at: number; data: ProgressData }[] = [];
  const merges = { n: 0 };
  const updateStream = new UpdateStream(
    {
      update: (data, digest) => updates.push({ at: clock.now(), data, digest }),
      progress: (data) => progress.push({ at: clock.now(), data }),
      coalesced: () => (merges.n += 1),
    },
    clock,
    NO_UPDATES,
    gate,
  );
  return { clock, updates, progress, merges, stream: updateStream };
}

const text = (value: string): Content[] => [{ type: 'text', text: value }];
const textsOf = (updates: { data: UpdateData }[]) =>
  updates.flatMap(({ data }) => data.content.map((item) => (item.type === 'text' ? item.text : `<${item.type}>`))).join('');

const sayings = fc.array(fc.record({ wait: fc.nat(400), text: anyText({ maxLength: 3_000 }) }), { maxLength: 60 });

describe('UpdateStream', () => {
  it('sends the first update at once and then four a second, of 8 KiB each, in order', () => {
    fc.assert(
      fc.property(sayings, (said) => {
        const { clock, updates, stream: s } = stream();
        for (const { wait, text: words } of said) {
          clock.advance(wait);
          const before = updates.length;
          s.onUpdate(text(words));
          if (before === 0 && words !== '') expect(updates.length).toBe(1);
        }
        clock.advance(1_000);
        for (const [index, { at, data }] of updates.entries()) {
          expect(data.update).toBe(index + 1);
          expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(8_192);
          const fifth = updates[index + 4];
          if (fifth) expect(fifth.at - at).toBeGreaterThanOrEqual(1_000);
        }
        if (updates.every(({ data }) => !data.truncated)) expect(textsOf(updates)).toBe(said.map(({ text: words }) => words).join(''));
      }),
    );
  });

  it('marks a window of updates as truncated exactly if something was left out', () => {
    const { clock, updates, stream: s } = stream();
    s.onUpdate(text('first'));
    for (let n = 0; n < 10; n++) s.onUpdate(text('x'.repeat(1_000)));
    clock.advance(250);
    s.onUpdate(text('last'));
    clock.advance(250);
    expect(updates.map(({ data }) => data.truncated ?? false)).toEqual([false, true, false]);
    expect(textsOf(updates.slice(1, 2)).length).toBeGreaterThan(8_000);
  });

  it('keeps other items of updates whole and separate from text', () => {
    const { clock, updates, stream: s } = stream();
    s.onUpdate(text('start'));
    s.onUpdate([...text('a'), ...text('b'), { type: 'image', data: 'aGk=', mimeType: 'image/png' }, ...text('c')]);
    clock.advance(250);
    expect(updates[1]?.data.content).toEqual([...text('ab'), { type: 'image', data: 'aGk=', mimeType: 'image/png' }, ...text('c')]);
  });

  it('separates and marks standard error in updates, within 8 KiB for any alternation of streams', () => {
    const { clock, updates, stream: s } = stream();
    s.onUpdate(text('start'));
    for (const [words, isStderr] of [
      ['a', false],
      ['b', true],
      ['c', true],
      ['d', false],
      ['', true],
      ['e', false],
    ] as const)
      s.onUpdate(text(words), isStderr);
    clock.advance(250);
    expect(updates[0]?.data).not.toHaveProperty('stderr');
    expect(updates[1]?.data).toMatchObject({ content: ['a', 'bc', 'de'].flatMap(text), stderr: [1] });
    for (let n = 0; n < 1_000; n++) s.onUpdate(text('x'), n % 2 === 1);
    clock.advance(250);
    expect(updates[2]?.data).toMatchObject({ truncated: true, stderr: expect.arrayContaining([1, 201]) });
    expect(Buffer.byteLength(JSON.stringify(updates[2]?.data))).toBeLessThanOrEqual(8_192);
  });

  it('ends updates after 1,000 or 1 MiB with truncated, and then is silent', () => {
    for (const words of ['x', 'x'.repeat(8_000)]) {
      const { clock, updates, stream: s } = stream();
      for (let n = 0; n < 1_100; n++) {
        s.onUpdate(text(words));
        clock.advance(250);
      }
      const bytes = updates.reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data.content)), 0);
      expect(bytes).toBeLessThanOrEqual(UPDATE_LIMITS.totalBytes);
      expect(updates.length).toBeLessThanOrEqual(UPDATE_LIMITS.updates);
      expect(updates.filter(({ data }) => data.truncated).map(({ data }) => data.update)).toEqual([updates.length]);
      s.close();
      expect(updates.at(-1)?.digest).toMatch(new RegExp(`^${updates.length} `));
    }
  });

  it('sends delayed updates at the close of the stream, proves all, and sends nothing later [EV-02]', () => {
    const { clock, updates, stream: s } = stream();
    s.onUpdate(text('a'));
    s.onUpdate(text('b'));
    s.close();
    s.onUpdate(text('c'));
    clock.advance(1_000);
    expect(textsOf(updates)).toBe('ab');
    const sha256 = createHash('sha256').update('[{"type":"text","text":"a"}]\n[{"type":"text","text":"b"}]\n').digest('hex');
    expect(updates.at(-1)?.digest).toBe(`2 ${sha256}`);
  });

  it('continues the count of updates of earlier attempts, or omits it if those were not counted', () => {
    const first = new UpdatesDigest(NO_UPDATES).add('["one"]');
    const digestOf = (words: string) => createHash('sha256').update(words).digest('hex');
    expect(first).toBe(`1 ${digestOf('["one"]\n')}`);
    const second = new UpdatesDigest(first);
    expect(second.add('["two"]')).toBe(`2 ${digestOf(`${digestOf('["one"]\n')}\n["two"]\n`)}`);
    expect(second.add('["three"]')).toBe(`3 ${digestOf(`${digestOf('["one"]\n')}\n["two"]\n["three"]\n`)}`);
    expect(new UpdatesDigest('').add('["two"]')).toBe('');
  });

  it('drops delayed updates when the stream is abandoned', () => {
    const { clock, updates, stream: s } = stream();
    s.onUpdate(text('a'));
    s.onUpdate(text('b'));
    s.cancel();
    clock.advance(1_000);
    expect(textsOf(updates)).toBe('a');
  });

  it('sends the first steps of progress at once, then the newest four times a second, and counts the merged ones [CC-24]', () => {
    const { clock, progress, merges, stream: s } = stream();
    for (let done = 1; done <= 20; done++) s.onProgress({ done, total: 20 });
    clock.advance(250);
    s.onProgress({ done: 21 });
    expect(progress.map(({ data }) => data.done)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 20]);
    expect(merges.n).toBe(11);
    clock.advance(250);
    expect(progress.at(-1)?.data.done).toBe(21);
    // A pause allows a few steps again.
    clock.advance(2_000);
    for (let done = 31; done <= 38; done++) s.onProgress({ done });
    expect(progress.slice(-8).map(({ data }) => data.done)).toEqual([31, 32, 33, 34, 35, 36, 37, 38]);
  });

  it('shows each update to a gate before it is sent, one at a time, and merges the waiting ones [HK-08]', async () => {
    const asked: { text: string; answer: (passes: boolean) => void }[] = [];
    const sent: string[] = [];
    const {
      clock,
      updates,
      stream: s,
    } = stream({
      allows: (content) => new Promise((answer) => asked.push({ text: textsOf([{ data: { update: 0, content: [...content] } }]), answer })),
      sent: async (content) => void sent.push(textsOf([{ data: { update: 0, content: [...content] } }])),
    });
    s.onUpdate(text('a'));
    expect([asked.map((it) => it.text), updates.length]).toEqual([['a'], 0]);
    for (const words of ['b', 'c', 'd']) {
      s.onUpdate(text(words));
      clock.advance(250);
    }
    expect(asked).toHaveLength(1);
    asked[0]?.answer(true);
    const drained = s.drain();
    while (asked.length < 2) await Promise.resolve();
    expect([asked[1]?.text, textsOf(updates), sent]).toEqual(['bcd', 'a', ['a']]);
    asked[1]?.answer(false);
    await drained;
    const sha256 = createHash('sha256')
      .update(`${JSON.stringify(text('a'))}\n`)
      .digest('hex');
    s.close();
    expect([updates.at(-1)?.digest, sent]).toEqual([`1 ${sha256}`, ['a']]);
  });
});
