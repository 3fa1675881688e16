import type { ApprovalScope, CallEvent, CallEventOf, CallOutcome, HookEvent, HookRunData, RetryReason, Stopped } from '#contracts';
import { actorText, errorText } from '#subject';
import { durationText } from '../components/duration.js';

export type SegmentKind = 'approval' | 'queued' | 'running' | 'backoff' | 'suspended';

/** A time span of a call; without `to` while it lasts. */
export interface Segment {
  readonly kind: SegmentKind;
  readonly name: string;
  readonly from: number;
  readonly to?: number | undefined;
}

export type Tone = 'neutral' | 'good' | 'bad' | 'warn' | 'busy';

/** An event in the timeline. `gaps`: the time spans until the next entry. */
export interface TimelineEntry {
  readonly at: number;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly tone: Tone;
  readonly gaps: readonly Segment[];
}

export interface CallTimeline {
  readonly entries: readonly TimelineEntry[];
  /** The gaps of all entries, in order. */
  readonly segments: readonly Segment[];
}

/** Most characters of a turn's text. */
const TURN_TEXT_CHARS = 200;

const RETRY_WORDS: Readonly<Record<RetryReason, string>> = {
  tool_failed: 'the tool failed',
  run_timeout: 'it ran too long',
  worker_lost: 'its worker was lost',
  worker_drained: 'its worker is going away',
  suspended: 'it waits for a time or for other calls',
};

const END_WORDS: Readonly<Record<CallOutcome, string>> = {
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  timed_out: 'Timed out',
  denied: 'Denied',
  unknown: 'Ended; whether it took effect is not known',
};

const STOPPED_WORDS: Readonly<Record<Stopped['how'], string>> = {
  stopped: 'The tool stopped',
  killed: 'The tool was killed',
  finished_first: 'The tool had finished first,',
  not_started: 'The tool had not started,',
  unknown: 'How the tool ended is unknown,',
};

const HOOK_WORDS: Readonly<Record<HookEvent, string>> = {
  before: 'before the call',
  after: 'after the tool',
  after_end: 'after the end',
  before_update: 'before an update',
  after_update: 'after an update',
};

const VERDICT_WORDS: Readonly<Record<NonNullable<HookRunData['verdict']>, string>> = {
  allow: 'allowed',
  deny: 'denied',
  stopped: 'was stopped',
};

function errorTitle(note: string | undefined): string {
  return `Ended with an error${note === undefined ? '' : `: ${note}`}`;
}

const SCOPE_WORDS: Readonly<Record<ApprovalScope, string>> = {
  once: 'this once',
  'session-tool': 'this tool for the rest of the session',
  'session-args': 'such calls for the rest of the session',
};

/** The timeline of a call, with every wait named. Without updates, progress and hooks of updates that changed nothing. */
export function buildTimeline(events: readonly CallEvent[]): CallTimeline {
  const builder = new TimelineBuilder();
  for (const event of events) builder.add(event);
  return builder.build();
}

interface Open extends Segment {
  /** The planned end of a pause; the time after it is waiting for a worker. */
  readonly pauseEnds?: number;
}

class TimelineBuilder {
  private readonly moments: (TimelineEntry & { gaps: Segment[] })[] = [];
  private open: Open | undefined;
  /** Attempt and run of a started hook → index of its entry. */
  private readonly runningHooks = new Map<string, number>();

  build(): CallTimeline {
    if (this.open) this.gap({ kind: this.open.kind, name: this.open.name, from: this.open.from });
    return { entries: this.moments, segments: this.moments.flatMap(({ gaps }) => gaps) };
  }

  add(event: CallEvent): void {
    const at = Date.parse(event.time);
    switch (event.type) {
      case 'call.submitted':
        return this.submitted(event, at);
      case 'call.approval_requested':
        this.open = undefined;
        this.moment(at, 'Approval requested', 'warn', event.data.reasons.join('; '));
        this.begin({ kind: 'approval', name: 'Waiting for a person', from: at });
        return;
      case 'call.approval_decided':
        return this.decided(event, at);
      case 'call.start':
        this.close(at);
        this.moment(at, `Attempt ${event.attempt} started`, 'busy', `on ${event.data.worker}`);
        this.begin({ kind: 'running', name: `Attempt ${event.attempt} running`, from: at });
        return;
      case 'call.retry':
        return this.retried(event, at);
      case 'call.input_requested':
        this.close(at);
        this.moment(at, 'Asked for input', 'warn', event.data.prompt);
        this.begin({ kind: 'suspended', name: 'Waiting for input, without a worker', from: at });
        return;
      case 'call.input_given':
        this.close(at);
        if (event.data.declined === true) this.moment(at, `Question declined by ${actorText(event.actor, event.actorname)}`, 'warn');
        else this.moment(at, `Input given by ${actorText(event.actor, event.actorname)}`, 'good');
        this.begin({ kind: 'queued', name: 'Queued for a worker', from: at });
        return;
      case 'call.cancel_requested':
        this.moment(at, `Cancel asked for by ${actorText(event.actor, event.actorname)}`, 'warn', event.data.reason);
        return;
      case 'call.hook':
        return this.hookRan(event, at);
      case 'call.turn':
        this.moment(at, `Turn ${event.data.turn} of ${event.data.model}`, 'neutral', turnText(event.data));
        return;
      case 'call.end':
        return this.ended(event, at);
      case 'call.update':
      case 'call.progress':
        return;
    }
  }

  private submitted(event: CallEventOf<'call.submitted'>, at: number): void {
    const { effect, reasons } = event.data.decision;
    this.moment(at, 'Submitted', 'neutral', `by ${actorText(event.actor, event.actorname)}`);
    const deciding = reasons.find((reason) => reason.effect === effect && reason.satisfiedBy === undefined)?.reason;
    if (effect === 'allow') this.moment(at, 'Policy: allowed', 'neutral', deciding);
    else if (effect === 'ask') this.moment(at, 'Policy: needs approval', 'warn', deciding);
    else {
      // Denials without a reason happen before the policy is evaluated; the End has the reason.
      if (reasons.length > 0) this.moment(at, 'Policy: denied', 'bad', deciding);
      return;
    }
    this.begin({ kind: 'queued', name: `Queued for a worker (${event.data.pool})`, from: at });
  }

  private decided(event: CallEventOf<'call.approval_decided'>, at: number): void {
    this.close(at);
    const { decision, scope, reason, edited } = event.data;
    const detail = [SCOPE_WORDS[scope], edited && 'with edited arguments', reason].filter(Boolean).join(' · ');
    if (decision === 'deny') {
      this.moment(at, `Denied by ${actorText(event.actor, event.actorname)}`, 'bad', detail);
      return;
    }
    this.moment(at, `Approved by ${actorText(event.actor, event.actorname)}`, 'good', detail);
    this.begin({ kind: 'queued', name: 'Queued for a worker', from: at });
  }

  /** A hook run is one entry: added when it starts, completed by its result. */
  private hookRan({ attempt, data }: CallEventOf<'call.hook'>, at: number): void {
    const { phase, hook, event, run, verdict, failed, rewrote, reason, tookMs } = data;
    const ofUpdate = event === 'before_update' || event === 'after_update';
    if (ofUpdate && (phase === 'started' || (verdict === 'allow' && !failed))) return;
    const key = `${attempt}/${run}`;
    if (phase === 'started') {
      this.moment(at, `Hook ${hook} runs`, 'busy', HOOK_WORDS[event]);
      this.runningHooks.set(key, this.moments.length - 1);
      return;
    }
    const title = `Hook ${hook} ${failed ? 'failed: ' : ''}${verdict === undefined ? 'ended' : VERDICT_WORDS[verdict]}`;
    const took = phase === 'cached' ? 'from the cache' : tookMs === undefined ? undefined : durationText(tookMs);
    const detail = [HOOK_WORDS[event], took, rewrote && 'rewrote the arguments', reason].filter(Boolean).join(' · ');
    const tone = failed ? 'warn' : verdict === 'deny' ? 'bad' : 'neutral';
    const running = this.runningHooks.get(key);
    const begun = running === undefined ? undefined : this.moments[running];
    if (running === undefined || begun === undefined) this.moment(at, title, tone, detail);
    else this.moments[running] = { ...begun, title, tone, detail };
  }

  private retried({ data }: CallEventOf<'call.retry'>, at: number): void {
    this.close(at);
    const suspended = data.reason === 'suspended';
    const why = data.error && errorText(data.error);
    this.moment(at, `${suspended ? 'Suspended' : 'Back to the queue'}: ${RETRY_WORDS[data.reason]}`, suspended ? 'neutral' : 'warn', why);
    if (data.delayMs === 0) this.begin({ kind: 'queued', name: 'Queued again', from: at });
    else
      this.begin({
        kind: suspended ? 'suspended' : 'backoff',
        name: suspended ? 'Suspended, without a worker' : `Pause of ${durationText(data.delayMs)} before attempt ${data.nextAttempt}`,
        from: at,
        pauseEnds: at + data.delayMs,
      });
  }

  private ended({ data }: CallEventOf<'call.end'>, at: number): void {
    this.close(at);
    const stopped = data.stopped && `${STOPPED_WORDS[data.stopped.how]} after ${durationText(data.stopped.tookMs)}`;
    const detail = [data.error && errorText(data.error), stopped].filter(Boolean).join(' · ');
    const errorResult = data.outcome === 'completed' && data.isError === true;
    const tone = errorResult ? 'bad' : data.outcome === 'completed' ? 'good' : data.outcome === 'cancelled' ? 'neutral' : 'bad';
    this.moment(at, errorResult ? errorTitle(data.note) : END_WORDS[data.outcome], tone, detail === '' ? undefined : detail);
  }

  private moment(at: number, title: string, tone: Tone, detail?: string): void {
    this.moments.push({ at, title, tone, detail: detail === '' ? undefined : detail, gaps: [] });
  }

  private begin(open: Open): void {
    this.open = open;
  }

  private close(to: number): void {
    const { open } = this;
    if (open === undefined) return;
    this.open = undefined;
    const { kind, name, from, pauseEnds } = open;
    if (pauseEnds !== undefined && pauseEnds < to) {
      this.gap({ kind, name, from, to: pauseEnds });
      this.gap({ kind: 'queued', name: 'Queued for a worker', from: pauseEnds, to });
    } else this.gap({ kind, name, from, to });
  }

  /** A gap belongs to the entry at its begin. */
  private gap(segment: Segment): void {
    const beginning = this.moments.findLast(({ at }) => at <= segment.from) ?? this.moments.at(-1);
    beginning?.gaps.push(segment);
  }
}

/** Tool calls of a turn, or the beginning of its text if there are none. */
function turnText({ toolCalls, text = '' }: CallEventOf<'call.turn'>['data']): string {
  return toolCalls.length > 0 ? `calls ${toolCalls.map(({ tool }) => tool).join(', ')}` : text.slice(0, TURN_TEXT_CHARS);
}
