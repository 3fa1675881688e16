import { z } from 'zod';
import type { CallEvent } from '#contracts';
import type { LogEntry } from '../log-source.port.js';

/** An event that is left out of the rows. */
export interface SkippedEvent {
  /** Public id: `<epoch>.<partition>.<seq>`. */
  readonly eventId: string;
  readonly partition: string;
  /** Reason why it is left out. */
  readonly fault: string;
}

/** Events of log entries, divided by whether they can be folded into rows. */
export interface SortedEvents {
  readonly events: readonly CallEvent[];
  readonly skipped: readonly SkippedEvent[];
}

/** Sorts out malformed events, so that they do not delay those of other calls. */
export function sortEvents(partition: string, epoch: number, entries: readonly LogEntry[]): SortedEvents {
  const events: CallEvent[] = [];
  const skipped: SkippedEvent[] = [];
  for (const { seq, event, fault } of entries) {
    const found = fault ?? (event && shapeFault(event));
    if (found !== undefined) skipped.push({ eventId: `${epoch}.${Number(partition)}.${seq}`, partition, fault: found });
    else if (event !== undefined) events.push(event);
  }
  return { events, skipped };
}

/** Lost events: gaps in the sequence numbers of `entries`, which follow the event `after`. */
export function missingEvents(partition: string, epoch: number, after: number, entries: readonly LogEntry[]): SkippedEvent[] {
  return entries.flatMap(({ seq }, index) => {
    const expected = (entries[index - 1]?.seq ?? after) + 1;
    if (seq === expected) return [];
    const fault =
      `the events ${expected} to ${seq - 1} are neither in the log nor in the archive. If they were archived, set ARCHIVE_URL here as for the ` +
      'process that archives, and run toolyard history rebuild';
    return [{ eventId: `${epoch}.${Number(partition)}.${expected}`, partition, fault }];
  });
}

const MAX_INTEGER = 2 ** 31 - 1;
const Text = z.string();

const ENVELOPE = {
  subject: Text,
  tenantid: Text,
  agentid: Text.optional(),
  sessionid: Text.optional(),
  tool: Text,
  time: Text,
  attempt: z.int().min(0).max(MAX_INTEGER),
};

/**
 * Parts of each event type that the fold of a row reads. Looser than the contract on purpose: values of a newer release must
 * not cost the row.
 */
const SHAPES: { readonly [Type in CallEvent['type']]?: z.ZodType } = {
  'call.submitted': shape({
    pool: Text,
    priority: Text,
    labels: z.record(Text, Text),
    argumentsRef: z.object({ preview: Text }).optional(),
    batchId: Text.optional(),
    parentCallId: Text.optional(),
    replayOf: Text.optional(),
    scheduleId: Text.optional(),
    toolCallId: Text.optional(),
  }),
  'call.approval_requested': shape({}),
  'call.approval_decided': shape({ decision: Text }),
  'call.start': shape({}),
  'call.retry': shape({ reason: Text }),
  'call.input_requested': shape({}),
  'call.input_given': shape({}),
  'call.end': shape({
    outcome: Text,
    isError: z.boolean().optional(),
    note: Text.optional(),
    runMs: z.number().optional(),
    cpuMs: z.number().optional(),
    error: z.object({ code: Text, message: Text }).optional(),
    result: z
      .object({ isError: z.boolean().optional(), content: z.array(z.object({ type: Text, text: Text.optional() })).optional() })
      .optional(),
  }),
};

function shape(data: z.ZodRawShape) {
  return z.object({ ...ENVELOPE, data: z.object(data) });
}

/** `data.labels: Invalid input: ...`; undefined for an event that can be folded. */
function shapeFault(event: CallEvent): string | undefined {
  const checked = SHAPES[event.type]?.safeParse(event);
  if (checked === undefined || checked.success) return undefined;
  const [issue] = checked.error.issues;
  return `${event.type}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
}
