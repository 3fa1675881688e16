import { z } from 'zod';
import type { CallDebugEntry, CallEvent, CallEventOf, Result } from '#contracts';

/** The stages of a submission, in their order. */
const STAGES = ['memory', 'lineage', 'evaluate', 'identify', 'hooks', 'limits', 'redact', 'compose', 'watch', 'accept'];

type Step = Pick<CallDebugEntry, 'step' | 'text' | 'tookMs'>;
type Written = Pick<CallEvent, 'time' | 'actor' | 'actorname' | 'attempt'>;

/** Facts in `details` of tools that run programs. */
const ProgramDetails = z
  .object({
    exitCode: z.number().optional().catch(undefined),
    signal: z.string().nullish().catch(undefined),
    pid: z.number().optional().catch(undefined),
    startedAt: z.iso.datetime().optional().catch(undefined),
    durationMs: z.number().int().optional().catch(undefined),
  })
  .optional()
  .catch(undefined);

/**
 * Steps of a call, from its events in order. Texts contain names, codes, times, and reasons of rules and hooks; no arguments,
 * no output. All updates of an attempt are one entry, so that memory does not grow with the output.
 */
export class DebugEntries {
  private readonly entries: CallDebugEntry[] = [];
  private first: CallEvent | undefined;
  private updates: { readonly entry: CallDebugEntry; count: number } | undefined;

  add(event: CallEvent): void {
    this.first ??= event;
    if (event.type === 'call.update' || event.type === 'call.progress') {
      this.updates ??= { entry: this.entryOf(event, { step: 'output', text: '' }), count: 0 };
      this.updates.count += 1;
      this.updates.entry.tookMs = Date.parse(event.time) - Date.parse(this.updates.entry.at);
      return;
    }
    this.endUpdates();
    if (event.type === 'call.end') this.insertProgramStart(event);
    this.entries.push(...stepsOf(event).map((step) => this.entryOf(event, step)));
  }

  all(): readonly CallDebugEntry[] {
    this.endUpdates();
    return this.entries;
  }

  /** Inserts the program's start behind the claim of its attempt: only the result has its time, by the worker's clock. */
  private insertProgramStart(event: CallEventOf<'call.end'>): void {
    const { pid, startedAt } = ProgramDetails.parse(event.data.result?.details) ?? {};
    const claim = this.entries.findLastIndex(({ step, attempt }) => step === 'attempt' && attempt === event.attempt);
    const claimed = this.entries[claim];
    if (startedAt === undefined || claimed === undefined) return;
    const text = pid === undefined ? 'the program was started' : `the program was started as process ${pid}`;
    const started = this.entryOf({ ...event, time: startedAt }, { step: 'process', text });
    this.entries.splice(claim + 1, 0, { ...started, by: claimed.by });
  }

  private endUpdates(): void {
    if (this.updates === undefined) return;
    const { entry, count } = this.updates;
    this.entries.push({ ...entry, text: `${count} updates and progress reports` });
    this.updates = undefined;
  }

  private entryOf({ time, actor, actorname, attempt }: Written, step: Step): CallDebugEntry {
    const afterMs = Date.parse(time) - Date.parse(this.first?.time ?? time);
    return { at: time, afterMs, by: actorname ?? actor, ...(attempt > 0 ? { attempt } : {}), ...step };
  }
}

function stepsOf(event: CallEvent): Step[] {
  switch (event.type) {
    case 'call.submitted':
      return submitted(event);
    case 'call.hook': {
      const { phase, hook, event: on, verdict, failed, rewrote, reason, tookMs } = event.data;
      const parts = [verdict, failed && 'failed, so its onError holds', rewrote && 'rewrote the arguments', reason].filter(Boolean);
      const text = `${hook} (${on}) ${phase}${parts.length === 0 ? '' : `: ${parts.join('; ')}`}`;
      return [{ step: 'hook', text, ...(tookMs === undefined ? {} : { tookMs }) }];
    }
    case 'call.approval_requested':
      return [{ step: 'approval', text: `a person is asked: ${event.data.reasons.join('; ')}` }];
    case 'call.approval_decided':
      return [
        { step: 'approval', text: `${event.data.decision}, scope ${event.data.scope}${event.data.edited ? ', arguments edited' : ''}` },
      ];
    case 'call.start':
      return [{ step: 'attempt', text: `claimed by ${event.data.worker} with fence ${event.fence}` }];
    case 'call.turn':
      return [{ step: 'turn', text: `turn ${event.data.turn} of ${event.data.model}`, tookMs: event.data.tookMs }];
    case 'call.retry': {
      const { reason, nextAttempt, delayMs, error } = event.data;
      const why = error === undefined ? reason : `${reason}, ${error.code}: ${error.message}`;
      return [{ step: 'retry', text: `attempt ${nextAttempt} may start in ${delayMs} ms: ${why}` }];
    }
    case 'call.input_requested':
      return [{ step: 'input', text: 'the tool asked for a value and gave its worker back' }];
    case 'call.input_given':
      return [{ step: 'input', text: event.data.declined === true ? 'the question was declined' : 'a value was given' }];
    case 'call.cancel_requested':
      return [{ step: 'cancel', text: `cancel requested, ${event.data.graceMs} ms to stop` }];
    case 'call.end':
      return ended(event);
    case 'call.update':
    case 'call.progress':
      return [];
    default:
      return event satisfies never;
  }
}

function submitted({ data, time }: CallEventOf<'call.submitted'>): Step[] {
  const { acceptAt, decision, tool, requestedTool, dialect } = data;
  const name = requestedTool === undefined ? tool : `${requestedTool}, which is ${tool}${dialect === undefined ? '' : ` in ${dialect}`}`;
  // Compares two clocks, which may differ.
  const accept = acceptAt === undefined ? 0 : Math.max(0, Date.parse(time) - Date.parse(acceptAt));
  const stageMs: Readonly<Record<string, number>> = { ...data.stageMs, ...(accept > 0 ? { accept } : {}) };
  return [
    ...STAGES.map((stage) => ({
      step: 'stage' as const,
      text: `${stage}${stage === 'evaluate' ? `: ${name}` : ''}`,
      ...(stageMs[stage] === undefined ? {} : { tookMs: stageMs[stage] }),
    })),
    ...decision.reasons.map(({ axis, rule, effect, reason, satisfiedBy }) => ({
      step: 'policy' as const,
      text: `${axis}/${rule}: ${effect}, ${reason}${satisfiedBy === undefined ? '' : ` (satisfied by ${satisfiedBy})`}`,
    })),
    { step: 'policy', text: `decision: ${decision.effect}` },
    { step: 'dispatch', text: dispatched(data) },
  ];
}

function dispatched({ decision, queue, pool, priority, timeouts }: CallEventOf<'call.submitted'>['data']): string {
  const how = `the queue ${queue ?? pool}, priority ${priority}, at most ${timeouts.queueMs} ms in it and ${timeouts.runMs} ms a run`;
  if (decision.effect === 'deny') return 'stored for the log only: the decision ends it';
  return decision.effect === 'ask' ? `stored for approvers; once approved for ${how}` : `stored for ${how}`;
}

function ended({ data }: CallEventOf<'call.end'>): Step[] {
  const { outcome, error, attempts, queueMs, runMs, cpuMs, stopped, result } = data;
  const facts = [
    `${attempts} attempts`,
    queueMs !== undefined && `${queueMs} ms to the first`,
    cpuMs !== undefined && `${cpuMs} ms of CPU`,
    error !== undefined && `${error.code}: ${error.message}`,
  ].filter(Boolean);
  return [
    ...processSteps(result),
    ...(stopped === undefined
      ? []
      : [{ step: 'process' as const, text: `${stopped.how} after it was asked to stop`, tookMs: stopped.tookMs }]),
    { step: 'end', text: `${outcome}: ${facts.join(', ')}`, ...(runMs === undefined ? {} : { tookMs: runMs }) },
  ];
}

function processSteps(result: Result | undefined): Step[] {
  const { exitCode, signal, durationMs = 0 } = ProgramDetails.parse(result?.details) ?? {};
  const ended = { step: 'process' as const, ...(durationMs > 0 ? { tookMs: durationMs } : {}) };
  if (typeof signal === 'string') return [{ ...ended, text: `the program was ended by ${signal}` }];
  return exitCode === undefined ? [] : [{ ...ended, text: `the program exited with ${exitCode}` }];
}
