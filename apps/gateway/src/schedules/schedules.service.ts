import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  LIMITS,
  ProblemError,
  SCHEDULE_LIMITS,
  ScheduledCall,
  type AdminType,
  type Call,
  type CreateScheduleBody,
  type PreviewScheduleBody,
  type Principal,
  type Schedule,
  type SchedulePreview,
} from '#contracts';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { AdminActs, type AdmittedAct } from '../auth/admin-acts.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { ScheduleRunner, timingOf } from './schedule-runner.service.js';
import { ScheduleStore, type StoredSchedule } from './schedule-store.service.js';
import { assertTiming, nextTimes, type Timing } from './schedule-times.js';

/** Creates, reads and changes schedules. Only the creating key, or the scope `admin`, may change one. */
@Injectable()
export class SchedulesService {
  constructor(
    private readonly store: ScheduleStore,
    private readonly runner: ScheduleRunner,
    private readonly submitCall: SubmitCallService,
    private readonly redaction: RedactionConfigService,
    private readonly acts: AdminActs,
  ) {}

  /**
   * Creates a schedule, once for each `id`.
   * @throws ProblemError `invalid_request` that names the wrong field, also of the call; `quota_exceeded` for too many
   */
  async create(principal: Principal, body: CreateScheduleBody, id = `sch-${randomUUID()}`): Promise<Schedule> {
    const { tenantId, keyId } = principal;
    const now = Date.now();
    const schedule: StoredSchedule = { ...body, id, tenantId, keyId, createdAt: new Date(now).toISOString() };
    assertTiming(timingOf(schedule), now);
    if (Object.keys(body.call.labels).length >= LIMITS.labels) throw wrongCall('/labels', `Expected fewer than ${LIMITS.labels} labels`);
    if (this.runner.principalOf(schedule) instanceof ProblemError)
      throw new ProblemError('forbidden', 'A schedule needs an API key that is known here later: this one is not');
    const { valid, errors } = await this.submitCall.quote(principal, { ...body.call, dialect: 'core' });
    if (!valid) {
      const [first = { pointer: '', message: 'The call is not valid' }] = errors;
      throw wrongCall(first.pointer, first.message);
    }
    const act = this.acts.admit(principal, { revokes: false });
    await this.store.create(schedule);
    await this.runner.plan(schedule);
    await this.record(act, 'admin.schedule_created', undefined, schedule);
    return this.shown(schedule);
  }

  /** @throws ProblemError `invalid_request` that names the wrong field */
  preview({ cron, everyMs, at, timeZone }: PreviewScheduleBody): SchedulePreview {
    const now = Date.now();
    const timing: Timing = { cron, everyMs, at, timeZone, anchorMs: now };
    assertTiming(timing, now);
    return { nextRuns: timesText(timing, now) };
  }

  async list({ tenantId }: Principal): Promise<Schedule[]> {
    const shown: Schedule[] = [];
    // One after another: due times take milliseconds, and others get a turn between two schedules.
    for (const schedule of await this.store.list(tenantId)) shown.push(await this.shown(schedule));
    return shown;
  }

  async get(principal: Principal, id: string): Promise<Schedule> {
    return this.shown(await this.find(principal, id));
  }

  async delete(principal: Principal, id: string): Promise<void> {
    const schedule = await this.findOwn(principal, id);
    // Records the act first: a repetition would not find the schedule.
    await this.record(this.acts.admit(principal, { revokes: true }), 'admin.schedule_deleted', schedule);
    await this.store.delete(schedule);
  }

  async pause(principal: Principal, id: string): Promise<Schedule> {
    const schedule = await this.findOwn(principal, id);
    const act = this.acts.admit(principal, { revokes: schedule.paused === undefined });
    const reason = `Paused with the key ${principal.keyId}`;
    const paused = { ...schedule, paused: schedule.paused ?? { at: new Date().toISOString(), reason } };
    const shown = await this.put(paused);
    await this.record(act, 'admin.schedule_paused', schedule, paused);
    return shown;
  }

  async resume(principal: Principal, id: string): Promise<Schedule> {
    const before = await this.findOwn(principal, id);
    const act = this.acts.admit(principal, { revokes: false });
    const { paused: _, ...schedule } = before;
    const shown = await this.put(schedule);
    await this.runner.plan(schedule);
    await this.record(act, 'admin.schedule_resumed', before, schedule);
    return shown;
  }

  async run(principal: Principal, id: string): Promise<Call> {
    return this.runner.runNow(await this.findOwn(principal, id));
  }

  private async record(act: AdmittedAct, type: AdminType, before?: StoredSchedule, after?: StoredSchedule): Promise<void> {
    const shown = (schedule: StoredSchedule) => this.redaction.of(schedule.tenantId).withoutSecrets(schedule);
    const target = (after ?? before)?.id ?? '';
    await act.record(type, { target, ...(before && { before: shown(before) }), ...(after && { after: shown(after) }) });
  }

  private async put(schedule: StoredSchedule): Promise<Schedule> {
    await this.store.put(schedule);
    return this.shown(schedule);
  }

  private async find({ tenantId }: Principal, id: string): Promise<StoredSchedule> {
    const schedule = await this.store.get(tenantId, id);
    if (schedule === undefined) throw new ProblemError('resource_not_found', 'No schedule with this id');
    return schedule;
  }

  private async findOwn(principal: Principal, id: string): Promise<StoredSchedule> {
    const schedule = await this.find(principal, id);
    if (schedule.keyId === principal.keyId || principal.scopes.includes('admin')) return schedule;
    throw new ProblemError('forbidden', `Expected the key ${schedule.keyId}, which made the schedule, or one with the scope admin`);
  }

  private async shown({ tenantId, ...schedule }: StoredSchedule): Promise<Schedule> {
    const lastRun = await this.store.lastRun(tenantId, schedule.id);
    return {
      ...schedule,
      call: ScheduledCall.parse(this.redaction.of(tenantId).redactor.json(schedule.call).value),
      nextRuns: schedule.paused === undefined ? timesText(timingOf({ tenantId, ...schedule }), Date.now()) : [],
      ...(lastRun === undefined ? {} : { lastRun }),
    };
  }
}

function timesText(timing: Timing, now: number): string[] {
  return nextTimes(timing, now, SCHEDULE_LIMITS.shownRuns).map((time) => new Date(time).toISOString());
}

function wrongCall(pointer: string, message: string): ProblemError {
  return new ProblemError('invalid_request', `The call of the schedule: ${message}`, { errors: [{ pointer: `/call${pointer}`, message }] });
}
