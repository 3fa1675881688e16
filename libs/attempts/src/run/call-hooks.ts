import type { AttemptDecision } from '../commit/decide-attempt.js';
import { cutUtf8 } from '../commit/cut-text.js';
import { modelText } from '../commit/limit-output.js';
import type { HookFeedback } from '../commit/attempt-result.js';
import type { AppliedHook, Content, EndData, HookEvent, HookInput, HookRunData, HookSet, Result } from '#contracts';
import type { Claimed } from '#event-log';
import { hookEventName, HookRunRecorder, textOf, type HookInvocation, type HookRun } from '#hooks';
import type { ContentSanitizer } from '#redaction';
import { ToolError } from '#tool-sdk';
import type { Attempt } from './attempt.js';
import type { AttemptDependencies } from './attempt-dependencies.js';
import { collectFeedback } from './hook-feedback.js';
import { loadArguments, loadRedactedArguments } from './read-arguments.js';
import { toFailure, type ToolRunResult } from './run-tool.js';
import type { UpdateFilter } from './update-stream.js';

/** Time for all hooks of a call that has used up its own, within the slack of the log. */
const AFTER_DEADLINE_MS = 2_000;
/** Time for all hooks after End, which occupy the worker's slot. */
const AFTER_END_MS = 10_000;
/** Most runs of update hooks in one attempt that are written as events; each has two. */
const RECORDED_UPDATE_RUNS = 500;
/** Bytes of an output that a hook receives. */
const RESPONSE_BYTES = 1_048_576;

type HookDeps = Pick<AttemptDependencies, 'blobs' | 'hooks' | 'hookSnapshots' | 'workspaces' | 'logger'>;

/** Hooks that this worker runs for one attempt. */
export interface CallHooks {
  /** Set if the hooks cannot be loaded. The tool must not run then. */
  readonly unavailable?: ToolRunResult;
  /** Set if hooks filter or observe updates. */
  readonly updates?: UpdateFilter;
  /** Runs the hooks after the tool's answer; undefined without hooks or answer. Never rejects. */
  runAfter(
    finish: AttemptDecision,
    result: Result | undefined,
    shown: (text: string, cut?: boolean) => string,
  ): Promise<HookFeedback | undefined>;
  /** Runs the hooks that observe Ends. Never rejects; their answers change nothing. */
  runAfterEnd(end: EndData): Promise<void>;
}

export const NO_HOOKS: CallHooks = { runAfter: async () => undefined, runAfterEnd: async () => {} };

/** Loads the hooks under which the call was accepted. Never rejects. */
export async function loadHooks(
  digest: string,
  attempt: Attempt,
  claimed: Claimed,
  safety: ContentSanitizer,
  write: (step: HookRunData) => void,
  deps: HookDeps,
): Promise<CallHooks> {
  try {
    const set = await deps.hookSnapshots.load(digest);
    if (set === undefined)
      throw new ToolError('internal', 'The hooks of the call are not stored any more. Submit the call again.', { retryable: false });
    const { callId } = attempt;
    const [args, shown, { root }] = await Promise.all([
      set.some(({ secrets }) => secrets) ? loadArguments(callId, claimed.submitted, deps.blobs) : undefined,
      loadRedactedArguments(callId, claimed.submitted, deps.blobs),
      deps.workspaces.resolve(claimed.meta),
    ]);
    // Redacts secrets of this process that the gateway may lack.
    const tool_input = safety.redactor.json(jsonOf(shown)).value;
    const about = { ...inputOf(callId, claimed), cwd: root, tool_input };
    return new StoredHooks(set, attempt, about, args === undefined ? tool_input : jsonOf(args.args), safety, write, deps, claimed);
  } catch (error) {
    deps.logger.error({ callId: attempt.callId, err: error }, 'the hooks of a call could not be loaded');
    return { ...NO_HOOKS, unavailable: toFailure(error, attempt.callId) };
  }
}

class StoredHooks implements CallHooks {
  private readonly runs: HookRun[] = [];
  private readonly recorder: HookRunRecorder;
  /** Redacts the secrets that hooks have seen. */
  private readonly sayable: ContentSanitizer;
  private readonly sessionEpoch: number;
  private recordedUpdateRuns = 0;
  private until: number;
  readonly updates?: UpdateFilter;

  constructor(
    private readonly set: HookSet,
    private readonly attempt: Attempt,
    private readonly baseInput: Omit<HookInput, 'hook_event_name' | 'event' | 'hook'>,
    /** Arguments as submitted, for hooks with access to secrets. */
    private readonly secretInput: HookInput['tool_input'],
    private readonly safety: ContentSanitizer,
    write: (step: HookRunData) => void,
    private readonly deps: HookDeps,
    { runMs, submitted }: Claimed,
  ) {
    this.sessionEpoch = submitted.sessionEpoch ?? 0;
    this.until = performance.now() + runMs + AFTER_DEADLINE_MS;
    this.recorder = new HookRunRecorder(deps.hooks, write);
    this.sayable = secretInput === baseInput.tool_input ? safety : safety.withSecrets(safety.findSecrets({ secretInput }));
    if (this.hooksOn('before_update').length + this.hooksOn('after_update').length === 0) return;
    this.updates = {
      allows: async (content) => (await this.run('before_update', updateOf(content))) === 'allow',
      sent: async (content) => void (await this.run('after_update', updateOf(content))),
    };
  }

  async runAfter(
    finish: AttemptDecision,
    result: Result | undefined,
    shown: (text: string, cut?: boolean) => string,
  ): Promise<HookFeedback | undefined> {
    if (hasResult(finish)) await this.run('after', { tool_response: responseOf(finish.failure?.message, result) });
    return this.runs.length === 0 ? undefined : collectFeedback(this.runs, shown);
  }

  /** Runs after an abort, too: hooks observe every End. */
  async runAfterEnd({ outcome, result, resultRef, error }: EndData): Promise<void> {
    this.until = performance.now() + AFTER_END_MS;
    const beside = { text: error?.message ?? resultRef?.preview ?? '', is_error: outcome !== 'completed' };
    const tool_response = result === undefined ? beside : responseOf(undefined, result);
    await this.run('after_end', { outcome, tool_response }, new AbortController().signal);
  }

  private hooksOn(event: HookEvent): readonly AppliedHook[] {
    return this.set.filter(({ on }) => on === event);
  }

  /** Runs hooks in order, until one denies. An abort of the attempt stops them and discards their answers. */
  private async run(event: HookEvent, more: Partial<HookInput>, signal = this.attempt.signal): Promise<'allow' | 'deny' | 'stopped'> {
    for (const hook of this.hooksOn(event)) {
      const tool_input = hook.secrets ? this.secretInput : this.baseInput.tool_input;
      const input: HookInput = { hook_event_name: hookEventName(event), event, hook: hook.name, ...this.baseInput, tool_input, ...more };
      try {
        const run = await this.runOne({
          hook,
          input,
          sessionEpoch: this.sessionEpoch,
          signal,
          budgetMs: this.until - performance.now(),
          holdsSecrets: (value) => this.safety.findSecrets(value).length > 0,
        });
        this.runs.push(run);
        if (run.verdict === 'deny') return 'deny';
      } catch {
        return 'stopped'; // Only an abort rejects; a failed hook is an answer.
      }
    }
    return 'allow';
  }

  /** Runs a hook and writes its event, except after End and beyond the limit for runs around updates. */
  private runOne(invocation: HookInvocation): Promise<HookRun> {
    const { on } = invocation.hook;
    const ofUpdate = on === 'before_update' || on === 'after_update';
    if (ofUpdate) this.recordedUpdateRuns += 1;
    if (on === 'after_end' || (ofUpdate && this.recordedUpdateRuns > RECORDED_UPDATE_RUNS)) return this.deps.hooks.run(invocation);
    const redact = (text: string, cut?: boolean) => (cut ? this.sayable.truncatedText(text) : this.sayable.text(text));
    return this.recorder.run(invocation, () => redact);
  }
}

/** True if the tool ran and returned a result or failure; stopped and lost attempts have none. */
export function hasResult(finish: AttemptDecision): finish is AttemptDecision & { kind: 'end' } {
  return finish.kind === 'end' && (finish.outcome === 'completed' || finish.outcome === 'failed');
}

function inputOf(callId: string, { meta, submitted, attempt }: Claimed) {
  return {
    ...(meta.sessionId === undefined ? {} : { session_id: meta.sessionId }),
    tool_name: meta.tool,
    call_id: callId,
    tenant_id: meta.tenantId,
    ...(meta.agentId === undefined ? {} : { agent_id: meta.agentId }),
    ...(submitted.toolCallId === undefined ? {} : { tool_call_id: submitted.toolCallId }),
    ...(submitted.purpose === undefined ? {} : { purpose: submitted.purpose }),
    attempt,
  };
}

function updateOf(content: readonly Content[]): Pick<HookInput, 'update'> {
  return { update: { text: textOf(content) } };
}

function responseOf(failure: string | undefined, result: Result | undefined): NonNullable<HookInput['tool_response']> {
  if (failure !== undefined || result === undefined) return { text: failure ?? '', is_error: true };
  return {
    text: cutUtf8(result.content.map(modelText).join('\n'), RESPONSE_BYTES),
    is_error: result.isError,
    ...(result.structuredContent === undefined ? {} : { structured: result.structuredContent }),
  };
}

function jsonOf(args: Readonly<Record<string, unknown>>): HookInput['tool_input'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- arguments were JSON when the gateway stored them
  return args as HookInput['tool_input'];
}
