import { ProblemError, type EventFilter } from '#contracts';
import { partitionOf, partitionOfRoot } from '#redis';
import { encodeVectorCursor, encodeScalarCursor, decodeVectorCursor, decodeScalarCursor, type Position } from '../read/cursor.js';
import { EventRingBuffer } from './event-ring-buffer.js';

/** Characters of recent events in memory, for all partitions together. */
const RECENT_CHARS = 16 * 1024 * 1024;

/** Place of this process in each partition, with its recent events. */
export class PartitionPositions {
  private readonly buffers: readonly EventRingBuffer[];

  constructor(positions: readonly Position[]) {
    const maxChars = RECENT_CHARS / Math.max(16, positions.length);
    this.buffers = positions.map(({ epoch, seq }) => new EventRingBuffer(epoch, seq, maxChars));
  }

  buffer(partition: number): EventRingBuffer {
    const recent = this.buffers[partition];
    if (recent === undefined) throw new RangeError(`There is no partition ${partition}; the log has ${this.buffers.length}.`);
    return recent;
  }

  /** Copy of the present positions. */
  now(): Position[] {
    return this.buffers.map(({ position }) => position);
  }

  /** Partition that a call or session filter reads; undefined for filters that read all. Throws for an impossible call id. */
  partitionOf(tenantId: string, { callId, sessionId }: EventFilter): number | undefined {
    if (callId !== undefined) {
      const partition = Number(partitionOf(callId));
      if (partition >= this.buffers.length) throw new ProblemError('resource_not_found', 'No call with this id');
      return partition;
    }
    if (sessionId !== undefined) return Number(partitionOfRoot(tenantId, sessionId, this.buffers.length));
    return undefined;
  }

  /** Throws `invalid_request` for a cursor of another kind of filter. */
  parse(cursor: string, only: number | undefined): Position[] {
    if (only === undefined) return decodeVectorCursor(cursor, this.buffers.length);
    const positions = this.now();
    positions[only] = decodeScalarCursor(cursor, only);
    return positions;
  }

  format(positions: readonly Position[], only: number | undefined): string {
    const position = only === undefined ? undefined : positions[only];
    return only === undefined || position === undefined ? encodeVectorCursor(positions) : encodeScalarCursor(only, position);
  }
}
