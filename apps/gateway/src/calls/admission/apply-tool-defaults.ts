import type { PolicyConfig, SubmitCallBody } from '#contracts';
import { settingsOf } from '#policy';
import type { ValidatedCall, ToolView } from '#tool-sdk';

/**
 * Tool and arguments after the agent's policy: its own run time, default arguments where the call has none, unknown arguments
 * dropped if it tolerates them. Defaults are validated like all other arguments. Pure.
 */
export function applyToolDefaults(
  tools: Pick<ToolView, 'validateArguments'>,
  { tool: name, arguments: raw }: Pick<SubmitCallBody, 'tool' | 'arguments'>,
  policy: PolicyConfig,
): ValidatedCall {
  const tolerant = !policy.execution.strictArguments;
  const prepared = tools.validateArguments(name, raw, tolerant);
  if (!prepared.ok) return prepared;
  const { defaults, timeoutMs } = settingsOf(prepared.tool, policy);
  const tool = timeoutMs === undefined ? prepared.tool : { ...prepared.tool, timeoutMs };
  if (defaults === undefined) return tool === prepared.tool ? prepared : { ...prepared, tool };
  const missing = Object.entries(defaults).filter(([argument]) => !Object.hasOwn(prepared.args, argument));
  if (missing.length === 0) return { ...prepared, tool };
  const filled = tools.validateArguments(name, { ...prepared.args, ...Object.fromEntries(missing) }, tolerant);
  return filled.ok ? { ...prepared, tool, args: filled.args } : filled;
}
