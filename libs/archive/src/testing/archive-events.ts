import { gzipSync } from 'node:zlib';
import { sealSegment, type SealedSegment } from '../segment/segment.js';
import { storeSegment } from '../segment/segments.js';
import type { SealedEvent } from '../segment/event-lines.js';
import type { Manifest } from '../segment/manifest.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

const START = Date.UTC(2026, 0, 1);

/** Consecutive calls of three events each in a partition. */
export function sampleEvents(
  partition: string,
  fromSeq: number,
  toSeq: number,
  { epoch = 1, note = '' }: { epoch?: number; note?: string } = {},
): SealedEvent[] {
  return Array.from({ length: toSeq - fromSeq + 1 }, (_, index) => sampleEvent(partition, fromSeq + index, epoch, note));
}

const TYPES = ['call.submitted', 'call.start', 'call.end'] as const;

function sampleEvent(partition: string, seq: number, epoch: number, note: string): SealedEvent {
  const time = START + seq * 10;
  const envelope = {
    specversion: '1.0',
    id: `${epoch}.${Number(partition)}.${seq}`,
    type: TYPES[(seq - 1) % 3],
    subject: sampleCallId(partition, Math.floor((seq - 1) / 3)),
    time: new Date(time).toISOString(),
    tenantid: 'default',
    tool: 'shell',
    callver: ((seq - 1) % 3) + 1,
    data: { note, text: `grüße ${seq}` },
  };
  return { seq, time, json: JSON.stringify(envelope) };
}

export function sampleCallId(partition: string, number: number): string {
  return `${partition}-01KZ${String(number).padStart(22, '0')}`;
}

/** Seals and stores events `fromSeq` to `toSeq` in segments of `size`. Returns the last manifest. */
export async function fillPartition(
  store: ArchiveStore,
  {
    partition,
    toSeq,
    size,
    previous,
    generation = 1,
    epoch = 1,
    note = '',
  }: { partition: string; toSeq: number; size: number; previous?: Manifest; generation?: number; epoch?: number; note?: string },
): Promise<Manifest | undefined> {
  let last = previous;
  for (let from = (previous?.toSeq ?? 0) + 1; from <= toSeq; from += size) {
    const events = sampleEvents(partition, from, Math.min(toSeq, from + size - 1), { epoch, note });
    last = await storeSegment(store, sealSegment({ partition, generation, epoch, previous: last, events }));
  }
  return last;
}

/** Segment as another version of the compressor would write it. */
export function compressedOtherwise(sealed: SealedSegment, text: Buffer): Buffer {
  const file = gzipSync(text, { level: 1, strategy: 2 });
  if (file.equals(sealed.file)) throw new Error('Expected other bytes.');
  return file;
}
