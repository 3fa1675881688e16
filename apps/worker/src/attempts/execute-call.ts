import {
  AttemptWriter,
  commitAttempt,
  decideAttempt,
  type FinishFacts,
  howEnded,
  workerAuthor,
  workerIdentity,
  type Written,
} from '#attempts';
import type { CallJob, HookRunData, Pool } from '#contracts';
import { isApplied, type Claimed } from '#event-log';
import type { DequeueHookResult } from '#redis';
import { telemetry } from '#observability';
import { Attempt } from './attempt.js';
import { hasResult, NO_HOOKS, loadHooks, type CallHooks } from './call-hooks.js';
import { withCheckedOutput } from './check-output.js';
import type { AttemptDependencies } from './attempt-dependencies.js';
import { mergeBeforeFeedback } from './hook-feedback.js';
import { OutputSanitizer } from './output-sanitizer.js';
import type { ActiveRedaction } from './redaction-settings.service.js';
import { runClaimed } from './run-claimed.js';
import type { ToolRunResult } from './run-tool.js';
import type { AttemptTrace } from './attempt-tracer.js';
import { UpdateStream } from './update-stream.js';

export type Executed =
  /** The job was late or doubled, or Redis is away; the timers of the log look after the call. */
  | { readonly kind: 'not_claimed'; readonly code: string; readonly retryInMs?: number }
  | { readonly kind: 'executed'; readonly claimed: Claimed; readonly written: Written };

/** Between the queue and the attempt. */
export interface Handover {
  /** What was said when the job was taken. */
  readonly taken?: DequeueHookResult | undefined;
  /** Told when the End was written to the connection: nothing but its answer is left. Not where hooks come after it. */
  readonly ending?: () => void;
}

/**
 * Runs one attempt of a call. Never rejects: whatever happens becomes an event or is left to the reconciler.
 *
 * 1. claim: the log answers with everything about the call, or with why it is not ours
 * 2. hold the lease, from now on until nothing more is written
 * 3. run: arguments and workspace, then the tool, with a deadline, a stop signal and updates on their way
 * 4. hooks after the call, when there are any and the tool has answered
 * 5. decide from how that ended: an End, a Retry, or nothing because the call is somebody else's by now
 * 6. write it down, and tell the hooks that watch Ends
 */
export async function executeCall(
  job: CallJob,
  pool: Pool,
  deps: AttemptDependencies,
  { taken, ending }: Handover = {},
): Promise<Executed> {
  const attempt = new Attempt(job.callId, deps.clock, deps.config.stopGraceMs);
  deps.inFlight.add(attempt);
  try {
    const claimed = await claim(job, deps, taken);
    if (!('submitted' in claimed)) {
      telemetry.dispatchDuplicate.emit({ pool, code: claimed.code });
      return { kind: 'not_claimed', ...claimed };
    }
    deps.inFlight.onClaimed(attempt, { fence: claimed.fence, effect: claimed.submitted.effect });
    const release = deps.leases.hold(job.callId, claimed.fence, {
      lost: () => attempt.abort('lease_lost'),
      cancelRequested: () => attempt.abort('cancelled'),
    });
    const trace = deps.tracer?.start(job.callId, claimed, pool);
    let finished: Finished | undefined;
    try {
      finished = await runAndFinish(attempt, claimed, pool, deps, ending, trace);
    } finally {
      release();
      trace?.end(finished?.written);
    }
    const { written, hooks } = finished;
    if (hooks !== NO_HOOKS && written.kind === 'ended' && isApplied(written.answer)) await hooks.runAfterEnd(written.data);
    return { kind: 'executed', claimed, written };
  } catch (error) {
    deps.logger.error({ callId: job.callId, err: error }, 'an attempt was left to the reconciler');
    return { kind: 'not_claimed', code: 'INTERNAL' };
  } finally {
    attempt.close();
    deps.inFlight.delete(attempt);
  }
}

/**
 * A job is written right behind the accept of its call, but on another connection: Redis may read it a moment before. So
 * long a call that is not there is asked for again; after that it was never accepted.
 */
const NOT_THERE_YET_MS = [1, 5, 25, 100];

async function claim(
  job: CallJob,
  { log, config, clock }: AttemptDependencies,
  taken?: DequeueHookResult,
): Promise<Claimed | { code: string; retryInMs?: number }> {
  const { callId, attempt } = job;
  const { worker, leaseMs, author } = workerIdentity(config);
  const ask = (taken?: DequeueHookResult) => log.claim({ callId, attempt, worker, leaseMs, author }, taken);
  let answer = await ask(taken);
  for (const ms of NOT_THERE_YET_MS) {
    if (answer.code !== 'NOT_FOUND') break;
    await new Promise<void>((resolve) => clock.after(ms, resolve));
    answer = await ask();
  }
  if ('submitted' in answer) return answer;
  return { code: answer.code, ...(answer.code === 'NOT_DUE' ? { retryInMs: answer.retryInMs } : {}) };
}

interface Finished {
  readonly written: Written;
  readonly hooks: CallHooks;
}

async function runAndFinish(
  attempt: Attempt,
  claimed: Claimed,
  pool: Pool,
  deps: AttemptDependencies,
  ending?: () => void,
  trace?: AttemptTrace,
): Promise<Finished> {
  const { config, clock } = deps;
  const { tool } = claimed.meta;
  telemetry.attemptStarted.emit({
    tool,
    pool,
    cause: claimed.attempt === 1 ? 'first' : 'retry',
    queueWaitMs: Math.max(0, claimed.time - claimed.submittedAt),
  });

  const inForce = await safetyOf(claimed, deps);
  const { hooks: digest } = claimed.submitted;
  const writer = new AttemptWriter(deps.log, attempt.callId, claimed.fence, workerAuthor(config.id), () => attempt.abort('lease_lost'));
  const write = (step: HookRunData) => writer.hook(step);
  const hooks = digest === undefined ? NO_HOOKS : await loadHooks(digest, attempt, claimed, inForce.safety, write, deps);
  const updates = new UpdateStream(
    {
      update: (data, count) => writer.update(data, count),
      progress: (data) => writer.progress(data),
      coalesced: () => telemetry.updatesCoalesced.emit({ where: 'worker', n: 1 }),
    },
    clock,
    claimed.updates,
    hooks.updates,
  );
  const guard = new OutputSanitizer(inForce, updates, deps.logger, attempt.callId);
  const startedAt = clock.now();
  const ran = hooks.unavailable ?? (await runClaimed(attempt, claimed, guard, deps, trace));
  guard.flush();
  const endedAt = clock.now();
  if (hooks === NO_HOOKS) attempt.finishing = true;
  else await updates.drain();

  const { run, result } = guard.sanitizeResult(withCheckedOutput(tool, ran, (name, value) => deps.tools.checkOutput(name, value)));
  const decide = () => decideAttempt(finishFacts(attempt, claimed, run, { startedAt, endedAt }, config), deps.random);
  const decided = decide();
  const said = await hooks.runAfter(decided, result, (text, cut) => guard.redact(text, cut));
  const remarks = hasResult(decided) ? mergeBeforeFeedback(claimed.submitted.hookFeedback, said) : said;
  attempt.finishing = true;
  // Whoever stopped the attempt while its hooks ran finds the tool's answer there.
  const finish = hooks === NO_HOOKS ? decided : decide();
  if (finish.kind === 'nothing') updates.cancel();
  else updates.close();
  const finished = {
    callId: attempt.callId,
    claimed,
    runMs: endedAt - startedAt,
    how: howEnded(run, attempt.abortInfo?.reason),
    ...(result ? { result } : {}),
    ...seenBytesOf(run),
    ...(remarks ? { feedback: remarks } : {}),
  };
  const written = await commitAttempt(finished, finish, writer, deps.blobs, deps.forcedShutdown, hooks === NO_HOOKS ? ending : undefined);
  tell(attempt, finished.runMs, pool, claimed, written, clock.now());
  return { written, hooks };
}

function seenBytesOf(run: ToolRunResult): { seenBytes?: number } {
  if (run.kind !== 'output' || typeof run.output === 'string' || !('seenBytes' in run.output)) return {};
  return { seenBytes: run.output.seenBytes };
}

/** Most calls were accepted under the defaults: then nobody has to be asked. */
function safetyOf({ submitted }: Claimed, { redaction: safety }: AttemptDependencies): ActiveRedaction | Promise<ActiveRedaction> {
  return submitted.safety === undefined ? safety.defaults : safety.of(submitted.safety);
}

function finishFacts(
  attempt: Attempt,
  claimed: Claimed,
  run: ToolRunResult,
  { startedAt, endedAt }: { startedAt: number; endedAt: number },
  config: AttemptDependencies['config'],
): FinishFacts {
  const { effect, retry, timeouts } = claimed.submitted;
  const { abortInfo: stopped } = attempt;
  return {
    run,
    ...(stopped ? { aborted: { reason: stopped.reason, tookMs: endedAt - stopped.at } } : {}),
    effect,
    failures: claimed.failures,
    retry,
    maxAttempts: config.maxAttempts,
    maxBackoffMs: config.maxBackoffMs,
    leftMs: claimed.submittedAt + timeouts.totalMs - (claimed.time + (endedAt - startedAt)),
    runLimitMs: claimed.runMs,
  };
}

function tell(attempt: Attempt, runMs: number, pool: Pool, claimed: Claimed, written: Written, now: number): void {
  const { tool } = claimed.meta;
  const lost = written.kind === 'nothing' || !isApplied(written.answer);
  telemetry.attemptFinished.emit({ tool, pool, runMs, ended: lost ? 'lost' : written.kind === 'ended' ? 'end' : 'retry' });
  if (attempt.leaseLost) telemetry.leaseLost.emit({ tool });
  const { abortInfo: stopped } = attempt;
  if (!lost && written.kind === 'ended' && written.data.stopped && stopped?.reason === 'cancelled')
    telemetry.cancelled.emit({ tool, how: written.data.stopped.how, tookMs: now - stopped.at });
}
