import type { DecisionReason, PolicyProfile } from '#contracts';
import { hookDenialOf } from '#dialects';
import type { HookRun } from '#hooks';

/** Most characters of one reason in an event. */
const REASON_CHARACTERS = 1_000;

/** Result of a hook before a call, as a reason of the call's decision. */
export function reasonOf({ hook, verdict, failure, reason, feedback, arguments: rewritten, cached, tookMs }: HookRun): DecisionReason {
  const took = cached ? 'answered before' : `${tookMs} ms`;
  const detail = failure === undefined ? (reason ?? feedback) : `${failure}; ${failureEffect(verdict)}`;
  const did = verdict === 'deny' ? 'refused the call' : rewritten === undefined ? 'let the call pass' : 'rewrote the arguments';
  const text = `${did} (${took})${detail === undefined ? '' : `: ${detail}`}`;
  return { axis: 'hooks', rule: hook.name, effect: verdict, reason: text.slice(0, REASON_CHARACTERS) };
}

/** Error message of a call that a hook denied. */
export function rejectionMessage({ hook, failure, reason }: HookRun): string {
  if (failure !== undefined) return `${failure}; ${failureEffect('deny')}`.slice(0, REASON_CHARACTERS);
  return `Rejected by hook \`${hook.name}\`${reason === undefined ? '' : `: ${reason}`}`.slice(0, REASON_CHARACTERS);
}

/** Rejection text for the model in the wording of the agent that the profile follows; undefined for the error's message. */
export function rejectionFor(profile: PolicyProfile, tool: string, run: HookRun): string | undefined {
  if (run.failure !== undefined) return undefined;
  const reason = run.reason?.slice(0, REASON_CHARACTERS);
  return hookDenialOf(profile)?.(tool, reason);
}

function failureEffect(verdict: 'allow' | 'deny'): string {
  return verdict === 'allow' ? 'allowing tool execution to continue' : 'without its answer the call is refused';
}
