import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { AppliedHook, HookInput, HookRunData, JsonValue, Principal, SubmitCallBody } from '#contracts';
import { HookRunner, HookRunRecorder, hookEventName, HookSnapshotStore, redactHookRun, type HookRun } from '#hooks';
import { REDACTED } from '#redaction';
import { SessionCancelChannel } from '../../sessions/session-cancel-channel.service.js';
import { SessionRoom } from '../../sessions/session-room.service.js';
import { RedactionConfigService } from '../../governance/redaction-config.service.js';
import { CallEvaluator } from './call-evaluator.service.js';
import type { CallHooks, EvaluatedCall } from './evaluated-call.js';
import { reasonOf, rejectionMessage, rejectionFor } from './hook-texts.js';

export interface HookRequest {
  readonly principal: Principal;
  readonly body: SubmitCallBody;
  readonly callId: string;
  readonly evaluated: EvaluatedCall;
  /** Applies the restrictions of the call tree and its inherited approval, also to rewritten arguments. Default: none. */
  readonly inPlace?: (evaluated: EvaluatedCall) => EvaluatedCall;
  /** Aborts when the submitting client disconnects. */
  readonly signal: AbortSignal;
}

/** `transient`: a repetition of the submission may have another outcome. */
export interface BeforeHookResult {
  readonly evaluated: EvaluatedCall;
  readonly transient?: boolean;
}

interface BeforeHookRuns extends BeforeHookResult {
  readonly runs: readonly HookRun[];
  readonly events: readonly HookRunData[];
}

/** Abort reason: a person cancelled the session or the batch of the call. */
export class StoppedByPerson extends Error {}

/** Most characters of hook feedback stored with the call. */
const FEEDBACK_CHARACTERS = 1_500;

/** True for a call without rejection, and for one denied by policy if hooks run before the policy. */
export function hooksApply({ rejection }: EvaluatedCall, { order }: CallHooks): boolean {
  return rejection === undefined || (order === 'hooks_permission_approval' && rejection.error.code === 'policy_denied');
}

/**
 * Runs the hooks before a call, one after the other, until one denies it. Each gets the arguments as the previous one left
 * them, with placeholders for secrets unless the config file grants it the secrets. Rewritten arguments get their secrets back
 * and are validated and evaluated by policy again. Hooks that workers run later are stored, and the call gets their digest. A
 * cancel of the session also aborts a running hook. Rejects only if Redis is needed and unreachable, or if the tenant has no room
 * for the hooks of its sessions.
 */
@Injectable()
export class BeforeHooks {
  constructor(
    private readonly evaluator: CallEvaluator,
    private readonly runner: HookRunner,
    private readonly sets: HookSnapshotStore,
    private readonly redaction: RedactionConfigService,
    private readonly cancels: SessionCancelChannel,
    private readonly room: SessionRoom,
  ) {}

  async run(request: HookRequest, hooks: CallHooks): Promise<BeforeHookResult> {
    const { applied } = hooks;
    const later = runsAfterApproval(request.evaluated, hooks);
    const left = applied.filter(({ on }) => later || on !== 'before');
    // Before the hooks run, which may have effects: a call for which there is no room ends here.
    const hookSet = left.length === 0 ? undefined : await this.save(request.principal.tenantId, left);
    const ran = later ? { evaluated: request.evaluated, runs: [], events: [] } : await this.runAll(request, hooks);
    const { evaluated, transient: passing = false, runs, events } = ran;
    const decision = { ...evaluated.decision, reasons: [...evaluated.decision.reasons, ...runs.map(reasonOf)] };
    const feedback = runs
      .flatMap(({ feedback: texts = [] }) => texts)
      .join('\n')
      .slice(0, FEEDBACK_CHARACTERS);
    const more = {
      hookRuns: events,
      ...(hookSet === undefined || evaluated.rejection !== undefined ? {} : { hookSet }),
      ...(feedback === '' ? {} : { hookFeedback: feedback }),
    };
    return { evaluated: { ...evaluated, decision, ...more }, transient: passing };
  }

  /** Evaluates a call and runs its hooks without a submission; a submission runs them again. `callId`: id that the hooks receive. */
  async dryRun(principal: Principal, body: SubmitCallBody, callId: string): Promise<EvaluatedCall> {
    const evaluated = await this.evaluator.evaluate(principal, body);
    if (evaluated.hooks === undefined || !hooksApply(evaluated, evaluated.hooks) || runsAfterApproval(evaluated, evaluated.hooks))
      return evaluated;
    return (await this.runAll({ principal, body, callId, evaluated, signal: new AbortController().signal }, evaluated.hooks)).evaluated;
  }

  /** Hooks of sessions are counted, since callers choose them. @throws ProblemError `quota_exceeded` if the tenant has no room */
  private save(tenantId: string, left: readonly AppliedHook[]): Promise<string> {
    if (left.every(({ by }) => by === 'operator')) return this.sets.save([...left]);
    return this.sets.save([...left], ({ digest, ...size }) => this.room.count(tenantId, digest, 'hooks', size));
  }

  private async runAll(request: HookRequest, hooks: CallHooks): Promise<BeforeHookRuns> {
    const { sessionId } = request.body;
    if (sessionId === undefined) return this.runUntilDenied(request, hooks);
    const cancelled = new AbortController();
    const unsubscribe = this.cancels.subscribe(request.principal.tenantId, sessionId, () => {
      cancelled.abort(new StoppedByPerson('the session was cancelled'));
    });
    try {
      return await this.runUntilDenied({ ...request, signal: AbortSignal.any([request.signal, cancelled.signal]) }, hooks);
    } finally {
      unsubscribe();
    }
  }

  private async runUntilDenied(request: HookRequest, hooks: CallHooks): Promise<BeforeHookRuns> {
    const events: HookRunData[] = [];
    const recorder = new HookRunRecorder(this.runner, (step) => events.push(step));
    return { ...(await this.runEach(request, hooks, recorder)), events };
  }

  private async runEach(request: HookRequest, hooks: CallHooks, recorder: HookRunRecorder): Promise<Omit<BeforeHookRuns, 'events'>> {
    let { evaluated } = request;
    const redaction = this.redaction.of(request.principal.tenantId);
    const runs: HookRun[] = [];
    for (const hook of hooks.applied.filter(({ on }) => on === 'before')) {
      const about = redaction.redactorFor(evaluated.args);
      const mask = redaction.masked(evaluated.args);
      const input = inputOf(request, evaluated, hooks.cwd, hook, {
        maskedArguments: mask.masked,
        redactText: hook.secrets ? (text) => text : about,
        redactName: hook.secrets ? (text) => text : (text) => redaction.identifier(text),
      });
      let run: HookRun;
      try {
        const holdsSecrets = (value: object) => redaction.holdsSecrets(value);
        // Redacts the hook's own output too: a hook may write a secret into the arguments and name it in its reason.
        const redactorOf = ({ arguments: rewritten }: HookRun) =>
          rewritten === undefined ? about : redaction.redactorFor([evaluated.args, rewritten]);
        const ran = await recorder.run(
          { hook, input, sessionEpoch: evaluated.sessionEpoch ?? 0, signal: request.signal, holdsSecrets },
          redactorOf,
        );
        run = redactHookRun(ran, redactorOf(ran));
      } catch (error) {
        if (!request.signal.aborted) throw error;
        const byPerson = request.signal.reason instanceof StoppedByPerson;
        const why = byPerson ? request.signal.reason.message : 'the caller went away';
        return {
          evaluated: rejected(evaluated, 'cancelled', `Cancelled: ${why} while hook \`${hook.name}\` ran`),
          transient: !byPerson,
          runs,
        };
      }
      runs.push(run);
      if (run.verdict === 'deny') {
        const text = rejectionFor(hooks.profile, input.tool_name, run);
        return {
          evaluated: rejected(evaluated, 'hook_rejected', rejectionMessage(run), text, run.failure !== undefined),
          transient: run.failure !== undefined,
          runs,
        };
      }
      if (run.arguments === undefined) continue;
      const restored = hook.secrets ? { ok: true as const, value: run.arguments } : mask.restore(run.arguments);
      if (!restored.ok) return { evaluated: rejected(evaluated, 'hook_rejected', misplaced(hook, restored.pointer)), runs };
      if (isDeepStrictEqual(restored.value, evaluated.args)) continue;
      evaluated = await this.reevaluate(request, evaluated, restored.value, hook.name);
      if (!hooksApply(evaluated, hooks)) return { evaluated, runs };
    }
    return { evaluated, runs };
  }

  /** Evaluates rewritten arguments. Invalid ones are a fault of the hook, since the model could not correct them. */
  private async reevaluate(
    { principal, body, inPlace = (it) => it }: HookRequest,
    before: EvaluatedCall,
    args: JsonValue,
    hook: string,
  ): Promise<EvaluatedCall> {
    // Hooks see and rewrite canonical arguments.
    const canonical = before.dialectForm === undefined ? body : { ...body, tool: before.tool?.name ?? body.tool };
    const reevaluated = await this.evaluator.evaluate(principal, { ...canonical, arguments: asArguments(args) }, before.dialectForm);
    const evaluated = inPlace(before.purpose === undefined ? reevaluated : { ...reevaluated, purpose: before.purpose });
    if (evaluated.rejection?.error.code !== 'invalid_arguments') return evaluated;
    const { message, errors } = evaluated.rejection.error;
    const text = `Hook \`${hook}\` rewrote the arguments of ${before.tool?.name ?? body.tool} into invalid ones: ${message}`;
    const refused = rejected(before, 'hook_rejected', text);
    return errors === undefined || refused.rejection === undefined
      ? refused
      : { ...refused, rejection: { ...refused.rejection, error: { ...refused.rejection.error, errors } } };
  }
}

/** True for a call that is approved first; `ApprovalHooks` runs its hooks after the approval. */
function runsAfterApproval({ decision, rejection }: EvaluatedCall, { order }: CallHooks): boolean {
  return order === 'permission_approval_hooks' && rejection === undefined && decision.effect === 'ask';
}

function rejected(
  evaluated: EvaluatedCall,
  code: 'hook_rejected' | 'cancelled',
  message: string,
  text?: string,
  retryable = false,
): EvaluatedCall {
  return {
    ...evaluated,
    decision: { effect: 'deny', reasons: evaluated.decision.reasons, risk: evaluated.decision.risk },
    rejection: {
      outcome: code === 'cancelled' ? 'cancelled' : 'denied',
      error: { code, message, retryable },
      ...(text === undefined ? {} : { text }),
    },
  };
}

function misplaced({ name }: AppliedHook, pointer: string): string {
  return (
    `Hook \`${name}\` answered with a placeholder (${REDACTED}) at ${pointer === '' ? 'the top' : pointer}, where it names no secret: ` +
    'a placeholder may only come back unchanged at its path, and in a list only together with all others of the list'
  );
}

/** Arguments of a hook's output, which are an object and stay one when placeholders are replaced. */
function asArguments(value: JsonValue): Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** Redaction for a hook: of the arguments, of texts about the call, and of names chosen by the caller. */
interface HookInputRedaction {
  readonly maskedArguments: JsonValue;
  readonly redactText: (text: string) => string;
  readonly redactName: (text: string) => string;
}

function inputOf(
  { principal, body, callId }: HookRequest,
  evaluated: EvaluatedCall,
  cwd: string,
  hook: AppliedHook,
  { maskedArguments, redactText, redactName }: HookInputRedaction,
): HookInput {
  const agentId = body.agentId ?? principal.agentId;
  return {
    hook_event_name: hookEventName('before'),
    event: 'before',
    hook: hook.name,
    cwd,
    ...(body.sessionId === undefined ? {} : { session_id: body.sessionId }),
    tool_name: evaluated.tool?.name ?? evaluated.requestedTool,
    tool_input: hook.secrets ? evaluated.args : maskedArguments,
    call_id: callId,
    tenant_id: principal.tenantId,
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(body.toolCallId === undefined ? {} : { tool_call_id: redactName(body.toolCallId) }),
    ...(evaluated.purpose === undefined ? {} : { purpose: redactText(evaluated.purpose) }),
  };
}
