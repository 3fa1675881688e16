import type { CallEvent, EventFilter } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import { ToolyardError } from '../toolyard-error.js';
import { EventSequenceVerifier } from './event-sequence-verifier.js';
import type { Watch, WatchOptions } from './watch.js';

/** Where the events of a call come from. */
export interface CallStreamSources {
  watch(filter: EventFilter, options: WatchOptions): Watch;
  /** All events so far, oldest first. */
  events(callId: string, options: RequestOptions): Promise<CallEvent[]>;
}

/**
 * Every event of one call, in order, each once, until its End.
 *
 * 1. With a cursor: read what the log has, so that all up to the End can be proved, and give what lies after it
 * 2. follow the live events; one that was seen is left out
 * 3. where some are missing (this reader was too slow, or the stream was taken up anew), read them from the log
 * 4. after the End: compare the Updates with the number and the digest that it has
 *
 * Throws `stream_incomplete` when something cannot be had any more; the End has been given before, if there is one.
 */
export async function* streamCall(
  callId: string,
  sources: CallStreamSources,
  { cursor, signal, onState }: WatchOptions,
): AsyncGenerator<CallEvent, void, undefined> {
  const track = new EventSequenceVerifier();
  let place: string | undefined;

  if (cursor !== undefined) {
    const through = seqOf(cursor);
    for (const event of await sources.events(callId, { signal })) {
      if (track.take(event) === 'gap') throw incomplete(callId, `event ${track.seen + 1} is not in the log any more`);
      place = event.id;
      if (seqOf(event.id) > through) yield event;
      if (event.type === 'call.end') return prove(callId, track, event);
    }
  }

  for await (const item of sources.watch({ callId }, { cursor: place, signal, onState })) {
    const isNext = item.kind === 'event' && track.take(item.event) === 'next';
    if (item.kind === 'event' && !isNext && item.event.callver <= track.seen) continue;
    const events = isNext ? [item.event] : await missing(callId, track, sources, signal);
    for (const event of events) {
      yield event;
      if (event.type === 'call.end') return prove(callId, track, event);
    }
  }
}

/** What the log has beyond what was seen. */
async function missing(
  callId: string,
  track: EventSequenceVerifier,
  sources: CallStreamSources,
  signal: AbortSignal | undefined,
): Promise<CallEvent[]> {
  const events = await sources.events(callId, { signal });
  const last = events.at(-1)?.callver ?? 0;
  if (last < track.seen) throw incomplete(callId, `the log has lost its end: it knows ${last} events, ${track.seen} were received`);
  const found = events.filter((event) => track.take(event) === 'next');
  if (track.seen < last) throw incomplete(callId, `event ${track.seen + 1} is not in the log any more`);
  return found;
}

async function prove(callId: string, track: EventSequenceVerifier, end: Extract<CallEvent, { type: 'call.end' }>): Promise<void> {
  const fault = await track.verify(end.data);
  if (fault !== undefined) throw incomplete(callId, fault);
}

function incomplete(callId: string, fault: string): ToolyardError {
  return new ToolyardError(
    'stream_incomplete',
    `The events of call ${callId} are not complete: ${fault}. Its result is whole all the same: read the call.`,
  );
}

/** `<epoch>.<partition>.<seq>` */
function seqOf(cursor: string): number {
  const seq = Number(cursor.split('.')[2]);
  if (Number.isSafeInteger(seq)) return seq;
  throw new TypeError(`cursor: expected the id of an event of this call, such as 1.7.42, got ${JSON.stringify(cursor)}`);
}
