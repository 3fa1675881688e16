import { z } from 'zod';
import { CALL_EVENT_TYPES, CallEvent, Notice, NOTICE_TYPES, ServerFrame, type LogEvent } from '#contracts';
import { ToolyardError } from '../toolyard-error.js';

/** Parsed frame: `event` and `events` are one kind. */
export type ReceivedFrame =
  | Exclude<ServerFrame, { op: 'event' | 'events' }>
  | { readonly op: 'events'; readonly id: number | string; readonly events: readonly LogEvent[]; readonly cursor: string };

const Head = z.object({ op: z.string() });
const FrameId = z.union([z.number(), z.string()]);
const EventFrame = z.object({ id: FrameId, event: z.unknown(), cursor: z.string() });
const EventsFrame = z.object({ id: FrameId, events: z.array(z.unknown()), cursor: z.string() });
const EventHead = z.object({ type: z.string() });

const OPS: ReadonlySet<string> = new Set(ServerFrame.options.map(({ shape }) => shape.op.value));
const CALL_TYPES: ReadonlySet<string> = new Set(CALL_EVENT_TYPES);
const NOTICES: ReadonlySet<string> = new Set(NOTICE_TYPES);

/**
 * Parses a frame. Undefined for an unknown `op`, which a newer gateway may send. Events keep their values unchanged, since the
 * digest in End covers them.
 *
 * @throws `protocol` for a known frame of another form
 */
export function readServerFrame(value: unknown): ReceivedFrame | undefined {
  try {
    const { op } = Head.parse(value);
    if (op === 'event') {
      const { id, event, cursor } = EventFrame.parse(value);
      return { op: 'events', id, events: [event].filter(isKnownEvent), cursor };
    }
    if (op === 'events') {
      const { id, events, cursor } = EventsFrame.parse(value);
      return { op, id, events: events.filter(isKnownEvent), cursor };
    }
    if (!OPS.has(op)) return undefined;
    const frame = ServerFrame.parse(value);
    return frame.op === 'event' || frame.op === 'events' ? undefined : frame;
  } catch (cause) {
    throw new ToolyardError('protocol', 'The stream sent a frame that does not have the documented form', undefined, { cause });
  }
}

/** False for types of a newer version. */
function isKnownEvent(value: unknown): value is LogEvent {
  if (isCallEvent(value)) return true;
  if (!NOTICES.has(EventHead.parse(value).type)) return false;
  Notice.parse(value);
  return true;
}

function isCallEvent(value: unknown): value is CallEvent {
  const parsed = CallEvent.safeParse(value);
  if (parsed.success) return true;
  if (CALL_TYPES.has(EventHead.parse(value).type)) throw parsed.error;
  return false;
}

const NumberedEvent = z.object({ id: z.string(), callver: z.number() });

/** Event of a call by its number; `event` is absent for a type of a newer version. */
export interface NumberedCallEvent {
  readonly id: string;
  readonly callver: number;
  readonly event?: CallEvent;
}

/** Events of a call with unchanged values. @throws `protocol` for events of another form */
export function readEvents(values: readonly unknown[]): NumberedCallEvent[] {
  try {
    return values.map((value) =>
      isCallEvent(value) ? { id: value.id, callver: value.callver, event: value } : NumberedEvent.parse(value),
    );
  } catch (cause) {
    throw new ToolyardError('protocol', 'An event of this call does not have the documented form', undefined, { cause });
  }
}
