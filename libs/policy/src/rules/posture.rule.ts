import { REQUIRED_MODE, type PermissionMode, type ToolTier } from '#contracts';
import type { CallFacts } from '../call-facts.js';
import { tierOf } from '../grants/tool-settings.js';
import type { RiskArguments } from '../risk-arguments/risk-arguments.js';
import type { Rule, RuleResult } from '../rule.js';

const EFFECTS: Record<PermissionMode, Record<ToolTier, 'allow' | 'ask' | 'deny'>> = {
  'read-only': { read_only: 'allow', side_effecting: 'deny', privileged: 'deny' },
  'workspace-write': { read_only: 'allow', side_effecting: 'allow', privileged: 'ask' },
  'danger-full-access': { read_only: 'allow', side_effecting: 'allow', privileged: 'allow' },
  prompt: { read_only: 'allow', side_effecting: 'ask', privileged: 'ask' },
  allow: { read_only: 'allow', side_effecting: 'allow', privileged: 'allow' },
};

/**
 * First axis: the tool's tier, or the one that the policy gives it, against the session's posture.
 * - autonomy `read_only` denies everything that acts, whatever the mode;
 * - the permission mode answers; a privileged tool in a `supervised` session is asked for unless the mode is `allow`, or the
 *   rules of risk evaluate its command by class and engine;
 * - the privileged gate, when it is on, asks for every privileged call in every mode.
 */
export const postureRule: Rule = (facts, subjects) => {
  const { tool, policy } = facts;
  const tier = tierOf(tool, policy);
  const gated = policy.gatePrivileged && tier === 'privileged';
  const gate: RuleResult = {
    axis: 'facts',
    rule: 'privileged-gate',
    effect: 'ask',
    reason: `${tool.name} is privileged, and the policy has a person confirm every privileged call`,
    liftedBy: 'arguments',
  };
  return [{ axis: 'facts', rule: 'posture', ...answer(facts, tier, subjects), liftedBy: 'arguments' }, ...(gated ? [gate] : [])];
};

/** Effect of the permission mode on a tier, in every autonomy. */
export function tierEffect({ permissionMode }: CallFacts['posture'], tier: ToolTier): 'allow' | 'ask' | 'deny' {
  return EFFECTS[permissionMode][tier];
}

function answer({ tool, posture, policy }: CallFacts, tier: ToolTier, { commands }: RiskArguments): Pick<RuleResult, 'effect' | 'reason'> {
  const { name } = tool;
  const { autonomy, permissionMode } = posture;
  if (autonomy === 'read_only' && tier !== 'read_only') {
    const files = tool.subjects.some((it) => it.kind === 'path' && it.access === 'write') ? 'Read-only mode: cannot write files. ' : '';
    return { effect: 'deny', reason: `${files}Read-only mode: cannot perform '${name}' (${tier}); the session's autonomy is read_only` };
  }
  const effect = tierEffect(posture, tier);
  const need = REQUIRED_MODE[tier];
  if (effect === 'deny') return { effect, reason: `tool '${name}' requires ${need} permission; current mode is ${permissionMode}` };
  if (effect === 'ask') return { effect, reason: `tool '${name}' requires approval to escalate from ${permissionMode} to ${need}` };
  if (autonomy === 'supervised' && tier === 'privileged' && permissionMode !== 'allow' && !areEvaluatedByCommandRules(commands, policy)) {
    return { effect: 'ask', reason: `tool '${name}' is privileged and requires approval in a supervised session` };
  }
  return { effect, reason: `tool '${name}' requires ${need} permission; current mode ${permissionMode} grants it` };
}

/**
 * True if low-risk commands need no approval in a supervised session: an engine checks their form and their class is known.
 * False for a call without commands, since there is nothing to check.
 */
function areEvaluatedByCommandRules(
  commands: RiskArguments['commands'],
  { commands: { classify, engines } }: CallFacts['policy'],
): boolean {
  return classify && engines.length > 0 && commands.length > 0;
}
