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

/**
 * Returns the fault of a value behind the path of its part, such as `.labels.a: expected a text`; undefined for a valid value.
 * Written by hand: a schema library needs more time for an event than its fold.
 */
type Check = (value: unknown) => string | undefined;

const MAX_INTEGER = 2 ** 31 - 1;
const text: Check = (value) => (typeof value === 'string' ? undefined : ': expected a text');
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : ': expected true or false');
const number: Check = (value) => (Number.isFinite(value) ? undefined : ': expected a number');
const count: Check = (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_INTEGER
    ? undefined
    : `: expected a whole number from 0 to ${MAX_INTEGER}`;

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);

const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) ? firstFault(value.map((item, index) => [String(index), check(item)])) : ': expected a list';

const texts: Check = (value) =>
  isObject(value) ? firstFault(Object.entries(value).map(([name, item]) => [name, text(item)])) : ': expected an object';

/** Checks the named members of an object; others are allowed. */
function object(checks: Readonly<Record<string, Check>>): Check {
  const members = Object.entries(checks);
  return (value) => {
    if (!isObject(value)) return ': expected an object';
    for (const [name, check] of members) {
      const fault = check(value[name]);
      if (fault !== undefined) return `.${name}${fault}`;
    }
    return undefined;
  };
}

function firstFault(members: readonly (readonly [name: string, fault: string | undefined])[]): string | undefined {
  const found = members.find(([, fault]) => fault !== undefined);
  return found && `.${found[0]}${found[1]}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const ENVELOPE = object({
  subject: text,
  tenantid: text,
  agentid: optional(text),
  sessionid: optional(text),
  tool: text,
  time: text,
  attempt: count,
  data: object({}),
});

/**
 * Parts of each event type that the fold of a row reads. Looser than the contract on purpose: values of a newer release must
 * not cost the row.
 */
const DATA: { readonly [Type in CallEvent['type']]?: Check } = {
  'call.submitted': object({
    pool: text,
    priority: text,
    labels: texts,
    decision: object({ risk: optional(text) }),
    argumentsRef: optional(object({ preview: text })),
    userId: optional(text),
    batchId: optional(text),
    parentCallId: optional(text),
    replayOf: optional(text),
    scheduleId: optional(text),
    toolCallId: optional(text),
  }),
  'call.approval_requested': object({}),
  'call.approval_decided': object({ decision: text }),
  'call.start': object({}),
  'call.retry': object({ reason: text, error: optional(object({ code: text, message: text })) }),
  'call.input_requested': object({}),
  'call.input_given': object({}),
  'call.end': object({
    outcome: text,
    isError: optional(flag),
    note: optional(text),
    runMs: optional(number),
    cpuMs: optional(number),
    error: optional(object({ code: text, message: text })),
    result: optional(object({ isError: optional(flag), content: optional(list(object({ type: text, text: optional(text) }))) })),
  }),
};

/** `call.end: data.note: expected a text`; undefined for an event that can be folded. */
function shapeFault(event: CallEvent): string | undefined {
  const data = DATA[event.type];
  const fault = data && (ENVELOPE(event) ?? inData(data(event.data)));
  return fault && `${event.type}: ${fault.slice(1)}`;
}

function inData(fault: string | undefined): string | undefined {
  return fault && `.data${fault}`;
}
