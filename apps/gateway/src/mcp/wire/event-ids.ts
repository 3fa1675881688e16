import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Request of a stream of events, and its client's read position. */
export interface ReadSoFar {
  readonly requestId: string | number;
  readonly progressToken?: string | number | undefined;
  /** Last progress that was sent. */
  readonly progress?: number | undefined;
  /** Number of the last event. */
  readonly n: number;
}

const Word = z.union([z.string().max(256), z.number()]);
const Parts = z.tuple([Word, Word.nullable(), z.number().nullable(), z.number().int().min(0)]);
const Progress = z.looseObject({ method: z.literal('notifications/progress'), params: z.looseObject({ progress: z.number() }) });

/**
 * Ids of the events that answer one request. An id contains all that a resumption needs, so nothing is stored: the call is
 * durable, and any gateway can follow it again.
 */
export class EventIds implements EventStore {
  private progress: number | null;
  private n: number;

  constructor(private readonly from: ReadSoFar) {
    this.progress = from.progress ?? null;
    this.n = from.n;
  }

  /** Called by the SDK for each message of the response. */
  storeEvent(_streamId: string, message: JSONRPCMessage): Promise<string> {
    this.progress = Progress.safeParse(message).data?.params.progress ?? this.progress;
    const { requestId, progressToken = null } = this.from;
    const parts: z.output<typeof Parts> = [requestId, progressToken, this.progress, ++this.n];
    return Promise.resolve(Buffer.from(JSON.stringify(parts)).toString('base64url'));
  }

  /** Never called: a resumption follows the call again instead. */
  replayEventsAfter(): Promise<string> {
    return Promise.reject(new Error('events are not stored'));
  }
}

/** Undefined unless the id is one of `EventIds`. */
export function readSoFar(eventId: string): ReadSoFar | undefined {
  if (eventId.length > 2_048) return undefined;
  try {
    const [requestId, progressToken, progress, n] = Parts.parse(JSON.parse(Buffer.from(eventId, 'base64url').toString()));
    return { requestId, progressToken: progressToken ?? undefined, progress: progress ?? undefined, n };
  } catch {
    return undefined;
  }
}
