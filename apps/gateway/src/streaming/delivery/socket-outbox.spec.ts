import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { CallEventType, Gap } from '#contracts';
import { EventBatch, type StoredEvent } from '#event-log';
import { eventually } from '../../../../../test/support/eventually.js';
import type { SubscriptionSink } from './outbox-item.js';
import { SocketOutbox, type DeliveryLimits, type SlowConsumer, type Connection } from './socket-outbox.js';

const LIMITS: DeliveryLimits = {
  connectionBytes: 1000,
  waitingBytes: 2000,
  coalesceAfterMs: 60_000,
  coalesceAtBytes: 2000,
  hardBytes: 8000,
  drainTimeoutMs: 60_000,
};

/** Connection whose peer reads only on request. */
class StuckWire implements Connection {
  bufferedBytes = 0;
  readonly sent: string[] = [];
  private readonly pending: { bytes: number; flushed: () => void }[] = [];

  send(frame: string | Buffer, flushed: () => void): void {
    this.sent.push(String(frame));
    this.bufferedBytes += frame.length;
    this.pending.push({ bytes: frame.length, flushed });
  }

  read(frames = 1): void {
    for (let n = 0; n < frames; n += 1) {
      const first = this.pending.shift();
      if (first === undefined) return;
      this.bufferedBytes -= first.bytes;
      first.flushed();
    }
  }

  readAll(): void {
    while (this.pending.length > 0) this.read();
  }
}

/** Records the sequence numbers and gaps that reach the reader. */
class PlainSink implements SubscriptionSink {
  sentCursor = '';
  events(batch: EventBatch): Buffer[] {
    return [Buffer.from(`events ${batch.events.map(({ seq }) => seq).join(' ')} ${'.'.repeat(batch.size)}`)];
  }
  gap(gap: Gap): string {
    return `gap ${JSON.stringify(gap)}`;
  }
}

let seq = 0;
const event = (type: CallEventType, callId = 'a', size = 100): StoredEvent => {
  seq += 1;
  return { partition: '00', epoch: 1, seq, callId, type, time: 0, meta: { tenantId: 't', tool: 'x' }, size, json: 'x'.repeat(size) };
};
const batchOf = (events: StoredEvent[]) => new EventBatch(events, `1.0.${events.at(-1)?.seq}`, () => events.map((one) => `1.0.${one.seq}`));

function open(limits: Partial<DeliveryLimits> = {}) {
  const wire = new StuckWire();
  const slow: SlowConsumer[] = [];
  return { wire, sink: new PlainSink(), slow, outbox: new SocketOutbox(wire, (why) => slow.push(why), { ...LIMITS, ...limits }) };
}

const seqsOf = (sent: readonly string[]) =>
  sent.filter((frame) => frame.startsWith('events')).flatMap((frame) => frame.split(' ').slice(1, -1).map(Number));
const gapsOf = (sent: readonly string[]) => sent.filter((frame) => frame.startsWith('gap')).map((frame): Gap => JSON.parse(frame.slice(4)));

describe('SocketOutbox', () => {
  afterEach(() => void jest.useRealTimers());

  it('sends everything in order to a fast reader, also if a tick has more than the connection accepts', () => {
    const { wire, sink, outbox, slow } = open();
    const events = Array.from({ length: 24 }, () => event('call.update'));
    for (const one of events) outbox.deliver(sink, batchOf([one]));
    outbox.send('text');
    expect(wire.sent.length).toBeLessThan(24);
    wire.readAll();
    expect(seqsOf(wire.sent)).toEqual(events.map((one) => one.seq));
    expect(wire.sent.at(-1)).toBe('text');
    expect(slow).toEqual([]);
  });

  it('merges the updates that a slow reader missed into one gap per call, and never drops a lifecycle event', () => {
    const events = fc.array(
      fc.record({
        type: fc.constantFrom<CallEventType>('call.start', 'call.update', 'call.progress', 'call.retry', 'call.end'),
        callId: fc.constantFrom('a', 'b', 'c'),
      }),
      { minLength: 1, maxLength: 120 },
    );
    const steps = fc.array(fc.record({ batch: events, reads: fc.nat(3) }), { maxLength: 12 });
    fc.assert(
      fc.property(steps, (all) => {
        const { wire, sink, outbox } = open({ hardBytes: Infinity });
        const put: StoredEvent[] = [];
        for (const { batch, reads } of all) {
          const made = batch.map(({ type, callId }) => event(type, callId));
          put.push(...made);
          outbox.deliver(sink, batchOf(made));
          wire.read(reads);
        }
        wire.readAll();

        const got = seqsOf(wire.sent);
        const gaps = gapsOf(wire.sent);
        expect(got).toEqual([...got].sort((a, b) => a - b));
        const missing = put.filter((one) => !got.includes(one.seq));
        expect(missing.every(({ type }) => type === 'call.update' || type === 'call.progress')).toBe(true);
        expect(gaps.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(missing.length);
        for (const one of missing)
          expect(gaps.some((gap) => gap.callId === one.callId && gap.fromSeq <= one.seq && one.seq <= gap.toSeq)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('drops hook runs like Updates for a slow reader instead of disconnecting it', () => {
    const { wire, sink, outbox, slow } = open();
    for (let n = 0; n < 200; n += 1) outbox.deliver(sink, batchOf([event('call.hook')]));
    wire.readAll();
    expect(slow).toEqual([]);
    expect(seqsOf(wire.sent).length + gapsOf(wire.sent).reduce((sum, { dropped }) => sum + dropped, 0)).toBe(200);
    expect(gapsOf(wire.sent)).toHaveLength(1);
  });

  it('tolerates a short burst without treating its reader as slow', async () => {
    jest.useFakeTimers();
    const { wire, sink, outbox } = open({ coalesceAtBytes: 100_000, coalesceAfterMs: 10 });
    const events = Array.from({ length: 100 }, () => event('call.update'));
    outbox.deliver(sink, batchOf([event('call.start', 'a', 1000)]));
    for (const one of events) outbox.deliver(sink, batchOf([one]));
    wire.readAll();
    expect(seqsOf(wire.sent).slice(1)).toEqual(events.map(({ seq: at }) => at));

    outbox.deliver(sink, batchOf([event('call.start', 'a', 1000)]));
    for (let n = 0; n < 100; n += 1) outbox.deliver(sink, batchOf([event('call.update')]));
    await jest.advanceTimersByTimeAsync(30);
    wire.readAll();
    expect(gapsOf(wire.sent)).toMatchObject([{ callId: 'a', dropped: 100 }]);
  });

  it('disconnects a reader with too much unsent data, or one that reads nothing for too long', async () => {
    const full = open();
    for (let n = 0; n < 200; n += 1) full.outbox.deliver(full.sink, batchOf([event('call.start')]));
    expect(full.slow).toEqual(['too_much_unsent']);
    expect(full.sink.sentCursor).toBe(`1.0.${seqsOf(full.wire.sent).at(-1)}`);

    const stuck = open({ drainTimeoutMs: 10 });
    for (let n = 0; n < 15; n += 1) stuck.outbox.deliver(stuck.sink, batchOf([event('call.start')]));
    await eventually(() => stuck.slow.length > 0, 'the stall to be noticed');
    expect(stuck.slow).toEqual(['no_drain']);
  });

  it('blocks a writer of older events until there is room, or until the close', async () => {
    const { wire, sink, outbox } = open();
    outbox.deliver(sink, batchOf([event('call.update', 'a', 1500)]));
    let ready = false;
    const waiting = outbox.writable().then(() => (ready = true));
    await Promise.resolve();
    expect(ready).toBe(false);
    wire.readAll();
    await waiting;
    outbox.deliver(sink, batchOf([event('call.update', 'a', 1500)]));
    const again = outbox.writable();
    outbox.close();
    await again;
  });
});
