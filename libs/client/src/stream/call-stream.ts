import type { CallEvent, EventFilter } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import { ToolyardError } from '../toolyard-error.js';
import { EventSequenceVerifier } from './event-sequence-verifier.js';
import type { NumberedCallEvent } from './server-frame.js';
import type { WatchItem, WatchOptions } from './watch.js';

/** Sources of a call's events. */
export interface CallStreamSources {
  watch(filter: EventFilter, options: WatchOptions): AsyncIterable<WatchItem>;
  /** All events so far, oldest first, including unknown types, so that their numbers leave no gap. */
  events(callId: string, options: RequestOptions): Promise<NumberedCallEvent[]>;
}

/**
 * Every event of one call, in order, each once, until its End.
 *
 * 1. with a cursor: read all events from the log, since the End covers all of them, and yield those after the cursor
 * 2. follow the live events; skip those already seen
 * 3. read missing ones from the log (this reader was too slow, or the stream was resumed)
 * 4. after the End: verify the Updates against its count and digest
 *
 * @throws `stream_incomplete` if events cannot be read any more, after an existing End
 */
export async function* streamCall(
  callId: string,
  sources: CallStreamSources,
  { cursor, signal, onState }: WatchOptions,
): AsyncGenerator<CallEvent, void, undefined> {
  const verifier = new EventSequenceVerifier();
  let position: string | undefined;

  if (cursor !== undefined) {
    const through = seqOf(cursor);
    for (const { id, callver, event } of await sources.events(callId, { signal })) {
      const place = event === undefined ? verifier.skip(callver) : verifier.take(event);
      if (place === 'gap') throw incomplete(callId, `event ${verifier.seen + 1} is not in the log any more`);
      position = id;
      if (event === undefined) continue;
      if (seqOf(id) > through) yield event;
      if (event.type === 'call.end') return verify(callId, verifier, event);
    }
  }

  for await (const item of sources.watch({ callId }, { cursor: position, signal, onState })) {
    const isNext = item.kind === 'event' && verifier.take(item.event) === 'next';
    if (item.kind === 'event' && !isNext && item.event.callver <= verifier.seen) continue;
    const events = isNext ? [item.event] : await missing(callId, verifier, sources, signal);
    for (const event of events) {
      yield event;
      if (event.type === 'call.end') return verify(callId, verifier, event);
    }
  }
}

/** Events of the log that were not seen yet. */
async function missing(
  callId: string,
  verifier: EventSequenceVerifier,
  sources: CallStreamSources,
  signal: AbortSignal | undefined,
): Promise<CallEvent[]> {
  const events = await sources.events(callId, { signal });
  const last = events.at(-1)?.callver ?? 0;
  if (last < verifier.seen) throw incomplete(callId, `the log has lost its end: it knows ${last} events, ${verifier.seen} were received`);
  const found: CallEvent[] = [];
  for (const { callver, event } of events) {
    if (event === undefined) verifier.skip(callver);
    else if (verifier.take(event) === 'next') found.push(event);
  }
  if (verifier.seen < last) throw incomplete(callId, `event ${verifier.seen + 1} is not in the log any more`);
  return found;
}

async function verify(callId: string, verifier: EventSequenceVerifier, end: Extract<CallEvent, { type: 'call.end' }>): Promise<void> {
  const error = await verifier.verify(end.data);
  if (error !== undefined) throw incomplete(callId, error);
}

function incomplete(callId: string, reason: string): ToolyardError {
  return new ToolyardError(
    'stream_incomplete',
    `The events of call ${callId} are not complete: ${reason}. Its result is complete: read the call.`,
  );
}

/** Sequence number of a cursor `<epoch>.<partition>.<seq>`. */
function seqOf(cursor: string): number {
  const seq = Number(cursor.split('.')[2]);
  if (Number.isSafeInteger(seq)) return seq;
  throw new TypeError(`cursor: expected the id of an event of this call, such as 1.7.42, got ${JSON.stringify(cursor)}`);
}
