import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { Call, CallError, HookInput, HookRunData, HookSet } from '#contracts';
import { EventHub } from '#event-log';
import { HookRunner, HookRunRecorder, hookEventName, HookSnapshotStore, redactHookRun, type HookRun } from '#hooks';
import { EffectivePolicyService } from '../calls/admission/effective-policy.service.js';
import { PolicyConfigService } from '../governance/policy-config.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { rejectionMessage, rejectionFor } from '../calls/admission/hook-texts.js';

/** Longer than all the hooks of a call may take together. */
const WATCHED_MS = 2 * 3_600_000;

export interface ApprovedCall {
  readonly call: Call;
  /** The arguments as submitted, with secrets. Called only when a hook may see them. */
  readonly args: () => Promise<HookInput['tool_input']>;
  /** Digest of the hooks that the call was accepted with. */
  readonly hookSet: string;
  /** How often the session had been deleted when the call was submitted. */
  readonly sessionEpoch: number;
}

/** Why a call ends that a person has allowed. `text`: what the model reads; undefined for the error's message. */
export interface HookDenial {
  readonly error: CallError;
  readonly text?: string | undefined;
}

/** Events of the hooks that ran, and the denial of the one that ended them. */
export interface ApprovalHookResult {
  readonly hookRuns: readonly HookRunData[];
  readonly denial?: HookDenial;
}

/**
 * Runs the before-hooks that come after approval (`hookOrder`), of the hooks that the call was accepted with. They may
 * deny the call, but not rewrite its arguments, since what was approved is what runs. They stop when the call ends.
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
  ) {}

  /** No denial when all hooks allow the call, or it has ended meanwhile. Rejects while Redis is out of reach. */
  async run(approved: ApprovedCall): Promise<ApprovalHookResult> {
    const set = await this.sets.load(approved.hookSet);
    if (set === undefined) return { hookRuns: [], denial: denial('The hooks of the call are not stored any more. Submit the call again.') };
    const before = set.filter(({ on }) => on === 'before');
    const hookRuns: HookRunData[] = [];
    if (before.length === 0) return { hookRuns };
    const ended = new AbortController();
    const watch = this.hub.watch(approved.call.id, { timeoutMs: WATCHED_MS });
    void watch.ended.then((event) => event !== undefined && ended.abort(new Error('the call has ended')));
    try {
      const recorder = new HookRunRecorder(this.runner, (step) => hookRuns.push(step));
      const denied = await this.firstDenial(before, approved, recorder, ended.signal);
      return { hookRuns, ...(denied === undefined ? {} : { denial: denied }) };
    } catch (error) {
      if (!ended.signal.aborted) throw error;
      return { hookRuns };
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
    const holdsSecrets = (value: object) => this.redaction.holdsSecrets(value);
    for (const hook of hooks) {
      const tool_input = hook.secrets ? await args() : call.arguments;
      const input: HookInput = { ...this.inputOf(call), hook: hook.name, tool_input };
      const redact = this.redaction.redactorFor(tool_input);
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
