import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { Call, CallError, HookInput, HookSet } from '#contracts';
import { CallStore, EventHub, EventLog, type EventOrigin } from '#event-log';
import { HookRunner, HookRunRecorder, hookEventName, HookSnapshotStore, redactHookRun, type HookRun } from '#hooks';
import { EffectivePolicyService } from '../calls/admission/effective-policy.service.js';
import { PolicyConfigService } from '../governance/policy-config.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { rejectionMessage, rejectionFor } from '../calls/admission/hook-texts.js';
import { changedConcurrently } from './changed-concurrently.js';
import { HookRunLog } from './hook-run-log.js';
import { lastHookRun } from './hook-run-numbers.js';

/** Longer than the total time of a call's hooks. */
const WATCHED_MS = 2 * 3_600_000;

export interface ApprovedCall {
  readonly call: Call;
  /** Submitted arguments, with secrets. Called only if a hook may see them. */
  readonly args: () => Promise<HookInput['tool_input']>;
  /** Digest of the hooks at acceptance. */
  readonly hookSet: string;
  /** Number of times that the session had been deleted at submission. */
  readonly sessionEpoch: number;
  /** Version of the call that was read; `author` allows it. */
  readonly version: number;
  readonly author: EventOrigin;
}

/** Reason for ending a call that a person has allowed. `text`: text for the model; default: the error's message. */
export interface HookDenial {
  readonly error: CallError;
  readonly text?: string | undefined;
}

/** Version of the call after the events of its hooks, and the denial that ended them. */
export interface ApprovalHookResult {
  readonly version: number;
  readonly denial?: HookDenial;
}

/**
 * Runs the before-hooks that come after approval (`hookOrder`), of the hooks at the call's acceptance. They may deny the call,
 * but not rewrite its arguments, since the approved arguments run. They abort when the call ends. Each step of a run is written
 * at once, so that it remains whatever ends or decides the call meanwhile.
 */
@Injectable()
export class ApprovalHooks {
  constructor(
    private readonly sets: HookSnapshotStore,
    private readonly runner: HookRunner,
    private readonly policies: EffectivePolicyService,
    private readonly policyConfig: PolicyConfigService,
    private readonly redaction: RedactionConfigService,
    private readonly hub: EventHub,
    private readonly log: EventLog,
    private readonly calls: CallStore,
  ) {}

  /**
   * No denial if all hooks allow the call. Rejects while Redis is unreachable.
   *
   * @throws ProblemError `conflict` if the call has ended or was decided meanwhile
   */
  async run(approved: ApprovedCall): Promise<ApprovalHookResult> {
    const { call, version, author, hookSet } = approved;
    const set = await this.sets.load(hookSet);
    if (set === undefined) return { version, denial: denial('The hooks of the call are not stored any more. Submit the call again.') };
    const before = set.filter(({ on }) => on === 'before');
    if (before.length === 0) return { version };
    const ended = new AbortController();
    const watch = this.hub.watch(call.id, { timeoutMs: WATCHED_MS });
    void watch.ended.then((event) => event !== undefined && ended.abort(changedConcurrently(call.id)));
    const written = new HookRunLog(this.log, { callId: call.id, version, author }, await lastHookRun(this.calls, call.id), (why) =>
      ended.abort(why),
    );
    try {
      const recorder = new HookRunRecorder(this.runner, (step) => written.add(step));
      const denied = await this.firstDenial(before, approved, recorder, ended.signal);
      return { version: await written.version(), ...(denied === undefined ? {} : { denial: denied }) };
    } catch (error) {
      throw ended.signal.aborted ? ended.signal.reason : error;
    } finally {
      watch.cancel();
    }
  }

  private async firstDenial(
    hooks: HookSet,
    { call, args, sessionEpoch }: ApprovedCall,
    recorder: HookRunRecorder,
    signal: AbortSignal,
  ): Promise<HookDenial | undefined> {
    const redaction = this.redaction.of(call.tenantId);
    const holdsSecrets = (value: object) => redaction.holdsSecrets(value);
    for (const hook of hooks) {
      const tool_input = hook.secrets ? await args() : call.arguments;
      const input: HookInput = { ...this.inputOf(call), hook: hook.name, tool_input };
      const redact = redaction.redactorFor(tool_input);
      const run = redactHookRun(await recorder.run({ hook, input, sessionEpoch, signal, holdsSecrets }, () => redact), redact);
      if (run.verdict === 'deny') return this.denialBy(run, call);
      if (run.arguments !== undefined && !isDeepStrictEqual(run.arguments, tool_input))
        return denial(`Hook \`${hook.name}\` rewrote the arguments after a person had approved them; nothing else may run`);
    }
    return undefined;
  }

  private denialBy(run: HookRun, { tool, tenantId, agentId }: Call): HookDenial {
    const { profile } = this.policyConfig.of(tenantId, agentId).policy;
    return { ...denial(rejectionMessage(run), run.failure !== undefined), text: rejectionFor(profile, tool, run) };
  }

  private inputOf({ id, tool, tenantId, sessionId, agentId, toolCallId, purpose }: Call): Omit<HookInput, 'hook' | 'tool_input'> {
    return {
      hook_event_name: hookEventName('before'),
      event: 'before',
      cwd: this.policies.workspaceOf(tenantId, sessionId),
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      tool_name: tool,
      call_id: id,
      tenant_id: tenantId,
      ...(agentId === undefined ? {} : { agent_id: agentId }),
      ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
      ...(purpose === undefined ? {} : { purpose }),
    };
  }
}

function denial(message: string, retryable = false): HookDenial {
  return { error: { code: 'hook_rejected', message, retryable } };
}
