import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CreateScheduleBody, ProblemError, type JsonValue, type Schedule, type ToolAnswer, type Violation } from '#contracts';
import { CronAddArguments, CronRemoveArguments } from '#tools';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { SchedulesService } from '../schedules/schedules.service.js';
import { jsonOutput, sessionOf, type ToolCall, type ToolHandler } from './tool-call.js';

/**
 * Schedules by tools. Each run is a call of the same key, session, agent and user, and is evaluated again: a schedule adds no
 * rights. An agent sees and removes only the schedules of its session and user that its key created.
 */
@Injectable()
export class ScheduleTools {
  readonly handlers: Readonly<Record<string, ToolHandler>> = {
    cron_add: (call) => this.add(call),
    cron_list: async (call) => jsonOutput((await this.own(call)).map(shown)),
    cron_remove: (call) => this.remove(call),
  };

  constructor(
    private readonly schedules: SchedulesService,
    private readonly submitCall: SubmitCallService,
  ) {}

  private async add(call: ToolCall): Promise<ToolAnswer> {
    const args = CronAddArguments.parse(call.args);
    const { sessionId } = sessionOf(call);
    const missing = missingTime(args);
    if (missing !== undefined) throw wrong([{ pointer: missing, message: `Missing '${missing.slice(1).replace('/', '.')}'` }]);
    const { agentId, userId } = call;
    const scheduled = {
      ...jobOf(args),
      sessionId,
      ...(agentId === undefined ? {} : { agentId }),
      ...(userId === undefined ? {} : { userId }),
    };
    const parsed = CreateScheduleBody.safeParse({
      ...timingOf(args),
      ...(args.name === undefined ? {} : { name: args.name }),
      call: scheduled,
    });
    if (!parsed.success)
      throw wrong(parsed.error.issues.map(({ path, message }) => ({ pointer: argumentOf(path.join('/'), args), message })));
    const { decision } = await this.submitCall.quote(call.principal, { ...parsed.data.call, dialect: 'core' });
    const denials = decision?.reasons.filter(({ effect }) => effect === 'deny') ?? [];
    if (denials.length > 0) throw new ProblemError('forbidden', `Denied by policy: ${denials.map(({ reason }) => reason).join('; ')}`);
    try {
      return jsonOutput(shown(await this.schedules.create(call.principal, parsed.data, idOf(call.callId))));
    } catch (error) {
      throw error instanceof ProblemError ? inArguments(error, args) : error;
    }
  }

  private async remove(call: ToolCall): Promise<ToolAnswer> {
    const { job_id } = CronRemoveArguments.parse(call.args);
    const found = (await this.own(call)).find(({ id }) => id === job_id);
    if (found === undefined) throw new ProblemError('resource_not_found', `This session has no cron job ${job_id}`);
    await this.schedules.delete(call.principal, found.id);
    return { kind: 'output', content: [{ type: 'text', text: `Removed cron job ${found.id}` }] };
  }

  private async own(call: ToolCall): Promise<Schedule[]> {
    const { principal, sessionId } = sessionOf(call);
    const { agentId, userId } = call;
    const all = await this.schedules.list(principal);
    return all.filter(({ keyId, call: of }) => {
      return keyId === principal.keyId && of.sessionId === sessionId && of.agentId === agentId && of.userId === userId;
    });
  }
}

type Arguments = ReturnType<typeof CronAddArguments.parse>;

function jobOf({ command, agent, prompt, tool, arguments: args = {} }: Arguments): { tool: string; arguments: object } {
  if (command !== undefined) return { tool: 'shell', arguments: { command } };
  if (agent !== undefined) return { tool: agent, arguments: { task: prompt ?? '' } };
  return { tool: tool ?? '', arguments: args };
}

function timingOf({ schedule: { kind, expr, tz, at, every_ms } }: Arguments): object {
  switch (kind) {
    case 'cron':
      return { ...(expr === undefined ? {} : { cron: expr }), ...(tz === undefined ? {} : { timeZone: tz }) };
    case 'at':
      return at === undefined ? {} : { at };
    case 'every':
      return every_ms === undefined ? {} : { everyMs: every_ms };
    default:
      return kind satisfies never;
  }
}

/** Schedule in the form for models. */
function shown({ id, name, call, cron, timeZone, at, everyMs, nextRuns, paused }: Schedule): JsonValue {
  const task = typeof call.arguments === 'object' && 'task' in call.arguments;
  return {
    id,
    name: name ?? null,
    job_type: call.tool === 'shell' ? 'shell' : task ? 'agent' : 'tool',
    tool: call.tool,
    schedule:
      cron !== undefined
        ? { kind: 'cron', expr: cron, tz: timeZone }
        : at !== undefined
          ? { kind: 'at', at }
          : { kind: 'every', every_ms: everyMs ?? null },
    next_run: nextRuns[0] ?? null,
    enabled: paused === undefined,
  };
}

/** Id of the schedule that the call creates, equal for repetitions. */
function idOf(callId: string): string {
  const hex = createHash('sha256').update(callId).digest('hex');
  return `sch-${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const TIMES = { cron: 'expr', at: 'at', every: 'every_ms' } as const;

/** Pointer of the missing time argument, if any. */
function missingTime({ schedule }: Arguments): string | undefined {
  const name = TIMES[schedule.kind];
  return schedule[name] === undefined ? `/schedule/${name}` : undefined;
}

const FIELDS: ReadonlyMap<string, string> = new Map([
  ['cron', '/schedule/expr'],
  ['timeZone', '/schedule/tz'],
  ['at', '/schedule/at'],
  ['everyMs', '/schedule/every_ms'],
  ['name', '/name'],
]);

/** Pointer of the `cron_add` argument for a field of a schedule. */
function argumentOf(field: string, { command, agent }: Arguments): string {
  if (!field.startsWith('call')) return FIELDS.get(field) ?? '';
  if (command !== undefined) return '/command';
  if (agent !== undefined) return field.startsWith('call/arguments') ? '/prompt' : '/agent';
  return field === 'call' ? '/tool' : field.slice('call'.length);
}

/** Problem with pointers to arguments of `cron_add` in place of fields of a schedule. */
function inArguments(problem: ProblemError, args: Arguments): ProblemError {
  const errors = problem.facts.errors?.map(({ pointer, message }) => ({ pointer: argumentOf(pointer.slice(1), args), message }));
  return errors === undefined ? problem : new ProblemError(problem.code, problem.detail, { ...problem.facts, errors });
}

function wrong(errors: Violation[]): ProblemError {
  return new ProblemError('invalid_request', `Invalid schedule: ${errors.map(({ message }) => message).join('; ')}`, { errors });
}
