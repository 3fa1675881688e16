import { z } from 'zod';
import type { Quote } from '#contracts';
import type { ToolyardClient } from '../../toolyard-client.js';
import { policyQuestion } from './claude-tools.js';
import type { ProjectView } from './project-path.js';

/** Input of a `PreToolUse` hook of Claude Code, reduced to the needed fields. */
export const PreToolUseInput = z.looseObject({
  hook_event_name: z.literal('PreToolUse'),
  session_id: z.string(),
  cwd: z.string(),
  tool_name: z.string(),
  tool_input: z.unknown(),
});
export type PreToolUseInput = z.output<typeof PreToolUseInput>;

/** `none`: no decision, so the rules of Claude Code decide alone. */
export type ClaudeDecision = 'allow' | 'deny' | 'ask' | 'none';

export interface JudgeOptions extends Partial<Pick<ProjectView, 'root' | 'realPath'>> {
  /** Session whose posture, grants and limits apply. Default: the session of Claude Code. */
  readonly sessionId?: string | undefined;
  /** Agent whose policy applies. Default: the API key's agent, if any. */
  readonly agentId?: string | undefined;
  /** Additional tools of Claude Code, with the tool of Toolyard that the policy evaluates. */
  readonly tools?: Readonly<Record<string, string>> | undefined;
  /** Decision for tools without an equivalent. Default: `none`. */
  readonly unmapped?: ClaudeDecision | undefined;
  /** Decision if the policy is unreachable or rejects the request as invalid. Default: `ask`. */
  readonly onError?: Exclude<ClaudeDecision, 'none'> | undefined;
  /**
   * Time limit of the request in milliseconds. Default: 10,000, below the timeout of hooks, after which Claude Code continues
   * without a decision.
   */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Answer in the form of a hook. Without `hookSpecificOutput` it decides nothing. */
export interface PreToolUseOutput {
  hookSpecificOutput?: { hookEventName: 'PreToolUse'; permissionDecision: 'allow' | 'deny' | 'ask'; permissionDecisionReason: string };
}

/** Evaluates a tool use of Claude Code, which Claude Code itself runs, by the policy. Never rejects: a failure is answered by `onError`. */
export async function judgeToolUse(
  client: Pick<ToolyardClient, 'calls'>,
  input: PreToolUseInput,
  options: JudgeOptions = {},
): Promise<PreToolUseOutput> {
  const { sessionId = input.session_id, agentId, unmapped = 'none', onError = 'ask', timeoutMs = 10_000, signal } = options;
  try {
    const view = { root: options.root ?? input.cwd, cwd: input.cwd, realPath: options.realPath };
    const question = policyQuestion(input.tool_name, input.tool_input, withoutUndefined(view), options.tools);
    if (question === undefined) return outputOf(unmapped, `Toolyard has no equivalent of ${input.tool_name}`);
    const quote = await client.calls.quote({ ...question, sessionId, agentId }, { timeoutMs, signal });
    return verdictOf(quote, input, onError);
  } catch (error) {
    return outputOf(onError, `Toolyard could not be asked: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function verdictOf(quote: Quote, input: PreToolUseInput, onError: Exclude<ClaudeDecision, 'none'>): PreToolUseOutput {
  const { valid, errors, decision } = quote;
  if (!valid || decision === undefined)
    return outputOf(onError, `Toolyard could not judge it: ${errors.map(({ pointer, message }) => `${pointer} ${message}`).join('; ')}`);
  if (decision.effect === 'allow' && leavesSandbox(input.tool_input))
    return outputOf('ask', 'Toolyard allows the command, but it asks to run outside of the sandbox of Claude Code');
  const reasons = decision.reasons.filter(({ effect }) => effect === decision.effect).map(({ reason }) => reason);
  const verb = { allow: 'allows it', ask: 'wants a person to be asked', deny: 'denies it' }[decision.effect];
  return outputOf(decision.effect, [`Toolyard ${verb}`, ...reasons].join(': '));
}

/** True for a use outside Claude Code's sandbox, which the policy does not know and so cannot lift. */
function leavesSandbox(input: unknown): boolean {
  return z.object({ dangerouslyDisableSandbox: z.literal(true) }).safeParse(input).success;
}

const REASON_CHARS = 1_000;

/** Output of the hook. Removes control characters from the reason, which is shown in a terminal and may contain text of the model. */
function outputOf(decision: ClaudeDecision, reason: string): PreToolUseOutput {
  if (decision === 'none') return {};
  const permissionDecisionReason = reason.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, REASON_CHARS);
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: decision, permissionDecisionReason } };
}

function withoutUndefined({
  realPath,
  ...view
}: {
  root: string;
  cwd: string;
  realPath: ProjectView['realPath'] | undefined;
}): ProjectView {
  return realPath === undefined ? view : { ...view, realPath };
}
