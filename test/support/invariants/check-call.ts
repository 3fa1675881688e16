import type { CallEvent, CallStatus } from '#contracts';
import { NO_UPDATES, UpdatesDigest } from '#event-log';
import { checkApproval, type ApprovalCheck } from './check-approval.js';
import { ofType } from './of-type.js';

type Status = 'none' | CallStatus;

/** Table 3 of the log's design: what may follow in which state, and where it leads. */
const LEGAL: Readonly<Record<Status, Partial<Record<CallEvent['type'], Status>>>> = {
  none: { 'call.submitted': 'queued' },
  queued: { 'call.hook': 'queued', 'call.approval_requested': 'waiting_approval', 'call.start': 'running', 'call.end': 'ended' },
  waiting_approval: { 'call.hook': 'waiting_approval', 'call.approval_decided': 'queued', 'call.end': 'ended' },
  running: {
    'call.update': 'running',
    'call.progress': 'running',
    'call.hook': 'running',
    'call.turn': 'running',
    'call.cancel_requested': 'running',
    'call.retry': 'queued',
    'call.input_requested': 'waiting_input',
    'call.end': 'ended',
  },
  waiting_input: { 'call.hook': 'waiting_input', 'call.input_given': 'queued', 'call.start': 'running', 'call.end': 'ended' },
  ended: {},
};

/** How late an End may be past its bound (I3, I15). */
const SLACK_MS = 5_000;

/** Between two Redis times, how long the parts that end calls were away. */
export type AwayMs = (from: number, to: number) => number;

export interface CallCheck extends ApprovalCheck {
  /** Nothing is under way any more: the call must have its End. */
  readonly atRest?: boolean;
  /** Absent where it is unknown: then the bounds of time (I3, I15) are not checked. */
  readonly awayMs?: AwayMs;
}

/** Violations in the events of one call, oldest first: I2 to I7, I11 and I15. */
export function checkCall(callId: string, events: readonly CallEvent[], options: CallCheck = {}): string[] {
  const { atRest = false, awayMs, byApps = false } = options;
  return [
    ...checkPath(callId, events, atRest),
    ...checkEffect(callId, events, byApps),
    ...checkApproval(callId, events, options),
    ...(awayMs === undefined ? [] : checkTimes(callId, events, awayMs)),
  ];
}

/** I2 one End, and last; I4 legal, without holes; I5 attempts and fences; I6 no event of a fenced-off worker. */
function checkPath(callId: string, events: readonly CallEvent[], atRest: boolean): string[] {
  const violations: string[] = [];
  let status: Status = 'none';
  let attempt = 0;
  let fence = 0;
  for (const [index, event] of events.entries()) {
    const at = `${callId} event ${index + 1} ${event.type}`;
    const next: Status | undefined = LEGAL[status][event.type];
    if (next === undefined) violations.push(status === 'ended' ? `I2 ${at}: after End` : `I4 ${at}: not legal in ${status}`);
    if (event.callver !== index + 1) violations.push(`I4 ${at}: callver ${event.callver}, expected ${index + 1}`);
    if (event.fence > 0 && event.fence < fence) violations.push(`I6 ${at}: fence ${event.fence} after ${fence}`);
    if (event.type === 'call.start') {
      if (event.attempt !== attempt + 1) violations.push(`I5 ${at}: attempt ${event.attempt} after ${attempt}`);
      if (event.fence <= fence) violations.push(`I5 ${at}: fence ${event.fence} does not rise above ${fence}`);
      attempt = event.attempt;
      fence = event.fence;
    } else {
      if (event.fence > 0 && event.fence !== fence) violations.push(`I5 ${at}: fence ${event.fence}, the Start before has ${fence}`);
      if (event.attempt !== attempt) violations.push(`I5 ${at}: attempt ${event.attempt}, the Start before has ${attempt}`);
    }
    status = next ?? status;
  }
  if (atRest && status !== 'ended') violations.push(`I2 ${callId}: no End; it is ${status}`);
  return violations;
}

/** End says how many updates there were, and their digest; `needed`: nothing else than this release wrote the log. */
export function checkUpdates(callId: string, events: readonly CallEvent[], needed: boolean): string[] {
  let known = NO_UPDATES;
  let digest = new UpdatesDigest(known);
  for (const event of events) {
    if (event.type === 'call.start') digest = new UpdatesDigest(known);
    if (event.type === 'call.update') known = digest.add(JSON.stringify(event.data.content));
  }
  const [end] = ofType(events, 'call.end');
  if (end === undefined || end.erased || (end.data.updates === undefined && !needed)) return [];
  const { count, sha256 } = end.data.updates ?? {};
  const said = count === 0 ? NO_UPDATES : `${count} ${sha256}`;
  return said === known ? [] : [`updates of ${callId}: its End says ${said}, the log has ${known}`];
}

/** A hook run is `started`, then `finished`, or only `cached`; hooks of the gateway run before the first Start, the others in an attempt. */
export function checkHookRuns(callId: string, events: readonly CallEvent[]): string[] {
  const phases = new Map<string, string>();
  return ofType(events, 'call.hook').flatMap(({ callver, attempt, data }) => {
    const at = `hooks of ${callId}: event ${callver} ${data.phase} run ${data.run} of attempt ${attempt}`;
    const key = `${attempt}/${data.run}`;
    const before = phases.get(key);
    phases.set(key, data.phase);
    const expected = data.phase === 'finished' ? 'started' : undefined;
    return [
      ...(before === expected ? [] : [`${at}: follows ${before ?? 'nothing'}, expected ${expected ?? 'nothing'}`]),
      ...((data.event === 'before') === (attempt === 0) ? [] : [`${at}: a hook of ${data.event}`]),
    ];
  });
}

/**
 * I7: what must happen at most once is started again only when its worker knew that nothing had begun, or slept; and no End
 * calls it lost, since it may have happened. Effects outside are not in the log: tests count them.
 */
function checkEffect(callId: string, events: readonly CallEvent[], byApps: boolean): string[] {
  const [submitted] = ofType(events, 'call.submitted');
  if (submitted?.data.effect !== 'once') return [];
  const hasBegun = (attempt: number) => byApps && events.some((it) => it.attempt === attempt && /^call\.(update|progress)$/.test(it.type));
  const repeated = ofType(events, 'call.retry').filter(({ attempt, data }) =>
    data.reason === 'worker_drained' ? hasBegun(attempt) : data.reason !== 'suspended',
  );
  const lost = ofType(events, 'call.end').filter(({ data }) => byApps && data.error?.code === 'worker_lost');
  return [
    ...repeated.map(({ callver, data }) => `event ${callver} call.retry: effect once goes back to the queue because of ${data.reason}`),
    ...lost.map(({ callver }) => `event ${callver} call.end: effect once may have happened, and ends as worker_lost`),
  ].map((text) => `I7 ${callId} ${text}`);
}

/** I3: the whole call ends in its time; I15: a cancelled one in its grace. Time while Redis or all workers were away does not count. */
function checkTimes(callId: string, events: readonly CallEvent[], awayMs: AwayMs): string[] {
  const [submitted] = ofType(events, 'call.submitted');
  const [cancelled] = ofType(events, 'call.cancel_requested');
  const [end] = ofType(events, 'call.end');
  if (end === undefined || submitted === undefined) return [];
  const late = (from: CallEvent, boundMs: number) => {
    const [began, ended] = [Date.parse(from.time), Date.parse(end.time)];
    return ended - began - awayMs(began, ended) - boundMs - SLACK_MS;
  };
  const violations: string[] = [];
  const pastTotal = late(submitted, submitted.data.timeouts.totalMs);
  if (pastTotal > 0) violations.push(`I3 ${callId}: ended ${pastTotal} ms too late`);
  const pastGrace = cancelled === undefined ? 0 : late(cancelled, cancelled.data.graceMs);
  if (pastGrace > 0) violations.push(`I15 ${callId}: ended ${pastGrace} ms too late after its cancel`);
  return violations;
}
