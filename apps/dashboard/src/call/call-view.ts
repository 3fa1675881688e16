import { EventSequenceVerifier } from '#client';
import type { CallEvent, Content, ProgressData, UpdateData } from '#contracts';
import { FrameStore } from '../stream/frame-store.js';
import { TERMINAL_LIMITS, TerminalText } from './log/terminal-text.js';

/** The most raw events kept in the browser. The oldest updates are dropped first, since the output has their text. */
export const KEPT_EVENTS = 1000;
/** The most non-text parts (images, JSON) kept for one attempt. */
const KEPT_PIECES = 50;

/** The output of one attempt. */
export interface AttemptOutput {
  readonly attempt: number;
  readonly text: TerminalText;
  readonly pieces: Exclude<Content, { type: 'text' }>[];
  updates: number;
  /** The worker left out text between updates, so as not to fall behind. */
  isCut: boolean;
  progress?: ProgressData;
}

/** View of a call, built from its events as they arrive. Its memory is bounded. */
export class CallView extends FrameStore {
  private readonly seen = new Map<string, CallEvent>();
  private readonly outputs = new Map<number, AttemptOutput>();
  /** The number of Updates and Progress that were dropped for a slow reader. */
  private leftOut = 0;
  private mostLines: number = TERMINAL_LIMITS.lines;
  private newestOutput: number | undefined;
  private textBytes = 0;
  private lifecycleEvents: readonly CallEvent[] = [];
  private forgotten = 0;
  private newestForgotten = 0;

  /** Everything but updates and progress, in order. */
  get lifecycle(): readonly CallEvent[] {
    return this.lifecycleEvents;
  }

  /** Stored raw events, oldest first. */
  get events(): readonly CallEvent[] {
    return [...this.seen.values()];
  }

  /** The number of raw events no longer kept. */
  get dropped(): number {
    return this.forgotten;
  }

  get skipped(): number {
    return this.leftOut;
  }

  /** Bytes of streamed text, of all attempts. */
  get bytes(): number {
    return this.textBytes;
  }

  /** Time of the newest output or progress, in milliseconds since 1970. */
  get outputAt(): number | undefined {
    return this.newestOutput;
  }

  get attempts(): readonly AttemptOutput[] {
    return [...this.outputs.values()];
  }

  /** Ignores known events: after a reconnect some are sent again. */
  take(event: CallEvent): void {
    if (this.seen.has(event.id) || this.isOld(event)) return;
    this.seen.set(event.id, event);
    if (event.type === 'call.update' || event.type === 'call.progress') this.newestOutput = Date.parse(event.time);
    if (event.type === 'call.update') this.update(event.attempt, event.data, Date.parse(event.time));
    else if (event.type === 'call.progress') this.output(event.attempt).progress = event.data;
    else this.lifecycleEvents = [...this.lifecycleEvents, event];
    if (this.seen.size > KEPT_EVENTS) this.forget();
    this.changed();
  }

  gap(n: number): void {
    this.leftOut += n;
    this.changed();
  }

  /** The stream restarts from the first event. */
  reset(): void {
    this.seen.clear();
    this.outputs.clear();
    this.lifecycleEvents = [];
    this.leftOut = this.forgotten = this.newestForgotten = this.textBytes = 0;
    this.changed();
  }

  /** Restarts with all events of the call, and keeps the dropped lines. */
  refill(all: readonly CallEvent[]): void {
    const since = this.events;
    this.mostLines = TERMINAL_LIMITS.allLines;
    this.reset();
    for (const event of [...all, ...since.toSorted((a, b) => a.callver - b.callver)]) this.take(event);
  }

  private update(attempt: number, { content, stderr = [], truncated }: UpdateData, at: number): void {
    const output = this.output(attempt);
    output.updates += 1;
    if (truncated === true) output.isCut = true;
    for (const [index, piece] of content.entries()) {
      if (piece.type === 'text') {
        output.text.append(piece.text, at, stderr.includes(index));
        this.textBytes += new TextEncoder().encode(piece.text).length;
      } else {
        output.pieces.push(piece);
        if (output.pieces.length > KEPT_PIECES) output.pieces.shift();
      }
    }
  }

  private output(attempt: number): AttemptOutput {
    const known = this.outputs.get(attempt);
    if (known) return known;
    const made: AttemptOutput = { attempt, text: new TerminalText(this.mostLines), pieces: [], updates: 0, isCut: false };
    this.outputs.set(attempt, made);
    return made;
  }

  private forget(): void {
    for (const [id, event] of this.seen) {
      if (event.type !== 'call.update' && event.type !== 'call.progress') continue;
      this.newestForgotten = event.callver;
      this.seen.delete(id);
      this.forgotten += 1;
      return;
    }
  }

  /** `callver` numbers the events of a call without a gap: a dropped event is recognised when it is sent again. */
  private isOld(event: CallEvent): boolean {
    return event.callver <= this.newestForgotten;
  }
}

/**
 * The error as a sentence if the updates do not match the count and SHA-256 of End; undefined if they match. Checked only while
 * every event is kept. Longer calls are checked by count: `calls.stream` of the client would keep every update.
 */
export async function integrityError(view: CallView): Promise<string | undefined> {
  const end = view.lifecycle.at(-1);
  if (end?.type !== 'call.end' || view.dropped + view.skipped > 0) return undefined;
  const track = new EventSequenceVerifier();
  for (const event of view.events) track.take(event);
  return track.verify(end.data);
}

/**
 * The number of received updates and the count of End; undefined before the end or without a count. An End of an earlier release
 * counts those of the last attempt.
 */
export function integrityStatus(view: CallView): { readonly got: number; readonly of: number } | undefined {
  const end = view.lifecycle.findLast((event) => event.type === 'call.end');
  if (end?.type !== 'call.end' || end.data.updates === undefined) return undefined;
  const of = end.data.updates.count;
  const all = view.attempts.reduce((sum, { updates }) => sum + updates, 0);
  const last = view.attempts.at(-1)?.updates ?? 0;
  return { got: all !== of && last === of ? last : all, of };
}
