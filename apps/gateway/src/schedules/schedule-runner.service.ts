import { setImmediate as turn } from 'node:timers/promises';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { Logger } from 'pino';
import { CancelBody, ProblemError, type Call, type Principal, type ScheduleRun } from '#contracts';
import { CallStore } from '#event-log';
import { telemetry } from '#observability';
import { ScheduleQueue, type DueRun } from '#queue';
import { everyMs, type Ticker } from '#timing';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { gatewayKey } from '../calls/admission/idempotency.js';
import { CancelCallService } from '../calls/cancel-call.service.js';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { ScheduleStore, type RunClaim, type StoredSchedule } from './schedule-store.service.js';
import { nextTimes, type Timing } from './schedule-times.js';

/** Delay in milliseconds after which a due time counts as missed: no gateway could run it in time. */
const MISSED_MS = 60_000;
/** Interval for adding due times that the queue lost. */
const REPAIR_MS = 30_000;
/** Tries before a schedule is paused: a gateway that has not read the newest keys does not know a new one, so others are tried. */
const KEY_TRIES = 5;

const OVERLAPPED = CancelBody.parse({ reason: 'The next run of its schedule began' });

interface Run {
  /** ms since the epoch. */
  readonly dueAt: number;
  /** Call of the previous run, if it has not ended. */
  readonly open: string | undefined;
  readonly now: number;
}

type RunResult = Omit<ScheduleRun, 'dueAt' | 'at'>;

/**
 * Submits the calls of schedules. Any gateway handles a due time; after a crash another one repeats it, and the
 * Idempotency-Key of schedule and due time makes both one call. Steps of a due time: the schedule exists and is not
 * paused → its key may still submit → add the next due time → check whether it was missed → check whether the previous
 * run has ended → submit → store the run. With overlap `queue`, a due time is claimed before the submission, for all
 * that waited for the same end.
 */
@Injectable()
export class ScheduleRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly queue: ScheduleQueue;
  private ticker: Ticker | undefined;

  constructor(
    private readonly store: ScheduleStore,
    private readonly submitCall: SubmitCallService,
    private readonly cancelCall: CancelCallService,
    private readonly calls: CallStore,
    private readonly apiKeys: ApiKeyStore,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(GATEWAY_CONFIG) { redisUrl }: GatewayConfig,
  ) {
    this.queue = new ScheduleQueue(redisUrl, (error) =>
      this.logger.error({ err: error }, 'a due time of a schedule failed; it is tried again'),
    );
  }

  onApplicationBootstrap(): void {
    this.queue.start((run, tries) => this.onDue(run, tries));
    this.ticker = everyMs(REPAIR_MS, () => this.repair());
    void this.repair();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ticker?.unsubscribe();
    await this.queue.close();
  }

  /** Adds the first due time after `afterMs`. Idempotent. */
  async plan(schedule: StoredSchedule, afterMs = Date.now()): Promise<void> {
    const [dueAt] = nextTimes(timingOf(schedule), afterMs, 1);
    if (dueAt !== undefined) await this.queue.add({ tenantId: schedule.tenantId, scheduleId: schedule.id, dueAt });
  }

  /** Submits the call at once, with the rights of the schedule's key. @throws ProblemError if the call is rejected */
  async runNow(schedule: StoredSchedule): Promise<Call> {
    const principal = this.principalOf(schedule);
    if (principal instanceof ProblemError) throw principal;
    const at = new Date().toISOString();
    const { call } = await this.submitCall.submit(principal, { ...schedule.call, dialect: 'core' }, { scheduleId: schedule.id });
    await this.store.putRun(schedule, { dueAt: at, at, callId: call.id });
    return call;
  }

  /** Current state of the key, or the problem that prevents a submission. */
  principalOf({ keyId, tenantId }: Pick<StoredSchedule, 'keyId' | 'tenantId'>): Principal | ProblemError {
    const named = { keyId, tenantId, scopes: [] };
    return this.apiKeys.rejection(named, 'submit') ?? this.apiKeys.current(named) ?? new ProblemError('unauthenticated', 'No such key');
  }

  private async onDue({ tenantId, scheduleId, dueAt }: DueRun, tries: number): Promise<'done' | 'again'> {
    const schedule = await this.store.get(tenantId, scheduleId);
    if (schedule === undefined || schedule.paused !== undefined) return 'done';
    const principal = this.principalOf(schedule);
    if (principal instanceof ProblemError) {
      if (tries < KEY_TRIES) return 'again';
      const reason = `The key ${schedule.keyId}, which made the schedule, may not submit calls any more: ${principal.detail}`;
      await this.store.put({ ...schedule, paused: { at: new Date().toISOString(), reason } });
      telemetry.scheduleRun.emit({ result: 'paused', lateMs: Date.now() - dueAt });
      return 'done';
    }
    if (schedule.overlap === 'queue') return this.onQueued(schedule, principal, dueAt);
    const now = Date.now();
    const last = await this.store.lastRun(tenantId, scheduleId);
    const isOpen = last?.callId !== undefined && Date.parse(last.dueAt) !== dueAt && (await this.isOpen(last.callId));
    await this.plan(schedule, Math.max(now, dueAt));
    const run = await this.run(schedule, principal, { dueAt, open: isOpen ? last.callId : undefined, now });
    await this.store.putRun(schedule, storedRun(run, { dueAt, at: now }));
    countRun(run, { dueAt, at: now });
    return 'done';
  }

  /** Handles a due time that waits for the end of the run before. */
  private async onQueued(schedule: StoredSchedule, principal: Principal, dueAt: number): Promise<'done' | 'again'> {
    const state = await this.store.runState(schedule);
    const { last, claim: begun } = state;
    if (begun !== undefined && begun.dueAt !== dueAt) {
      if (dueAt <= begun.at) return 'done';
      // Without effect while that due time waits or is handled; its process may have died.
      await this.queue.add({ tenantId: schedule.tenantId, scheduleId: schedule.id, dueAt: begun.dueAt });
      return 'again';
    }
    if (begun === undefined) {
      if (last !== undefined && dueAt <= Math.max(Date.parse(last.dueAt), Date.parse(last.at))) return 'done';
      if (last?.callId !== undefined && (await this.isOpen(last.callId))) return 'again';
    }
    const claim = begun ?? { dueAt, at: Math.max(Date.now(), dueAt) };
    await this.plan(schedule, claim.at);
    if (begun === undefined && !(await this.store.claimRun(schedule, claim, state))) return 'again';
    const run = await this.run(schedule, principal, { dueAt, open: undefined, now: claim.at });
    await this.store.finishRun(schedule, claim, storedRun(run, claim));
    countRun(run, claim);
    return 'done';
  }

  private async run(schedule: StoredSchedule, principal: Principal, { dueAt, open, now }: Run): Promise<RunResult> {
    const { id, missed, overlap, call } = schedule;
    const idempotencyKey = gatewayKey('schedule', id, dueAt);
    if (missed === 'skip' && overlap !== 'queue' && now - dueAt > MISSED_MS)
      return { skipped: 'missed', ...(open === undefined ? {} : { callId: open }) };
    if (open !== undefined && overlap === 'skip') return { callId: open, skipped: 'overlap' };
    if (open !== undefined) await this.cancelCall.cancel(principal, open, OVERLAPPED);
    try {
      const submitted = await this.submitCall.submit(principal, { ...call, dialect: 'core' }, { idempotencyKey, scheduleId: id });
      return { callId: submitted.call.id };
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code === 'overloaded' || error.code === 'too_many_requests') throw error;
      const { code, detail, facts } = error;
      this.logger.warn({ scheduleId: id, tool: call.tool, code }, 'the call of a schedule was refused');
      return { error: { code, message: detail }, ...(facts.callId === undefined ? {} : { callId: facts.callId }) };
    }
  }

  private async isOpen(callId: string): Promise<boolean> {
    const snapshot = await this.calls.snapshot(callId);
    return snapshot !== undefined && snapshot.status !== 'ended';
  }

  /** Plans a schedule again. Includes a single due time that is over and was not handled. */
  private async planAgain(schedule: StoredSchedule): Promise<void> {
    const isPending = schedule.at !== undefined && (await this.store.lastRun(schedule.tenantId, schedule.id)) === undefined;
    await this.plan(schedule, isPending ? 0 : Date.now());
  }

  /** Adds the next due time of each schedule again. Never rejects: the next repair follows. */
  private async repair(): Promise<void> {
    try {
      for (const tenantId of await this.store.tenants())
        for (const schedule of await this.store.list(tenantId)) {
          if (schedule.paused !== undefined) continue;
          await this.planAgain(schedule);
          // The search for a due time takes milliseconds, and one without a result adds nothing to the queue.
          await turn();
        }
    } catch (error) {
      this.logger.warn({ err: error }, 'the due times of schedules could not be checked; the next check follows');
    }
  }
}

function storedRun(run: RunResult, { dueAt, at }: RunClaim): ScheduleRun {
  return { ...run, dueAt: new Date(dueAt).toISOString(), at: new Date(at).toISOString() };
}

function countRun({ skipped, error }: RunResult, { dueAt, at }: RunClaim): void {
  telemetry.scheduleRun.emit({ result: skipped ?? (error === undefined ? 'submitted' : 'refused'), lateMs: at - dueAt });
}

export function timingOf({ cron, everyMs, at, timeZone, createdAt }: StoredSchedule): Timing {
  return { cron, everyMs, at, timeZone, anchorMs: Date.parse(createdAt) };
}
