import type { DecisionReason, PermissionMode, ToolTier } from '#contracts';
import type { CallFacts } from '../call-facts.js';

const ANSWERS: Record<PermissionMode, Record<ToolTier, 'allow' | 'ask' | 'deny'>> = {
  'read-only': { read_only: 'allow', side_effecting: 'deny', privileged: 'deny' },
  'workspace-write': { read_only: 'allow', side_effecting: 'allow', privileged: 'ask' },
  'danger-full-access': { read_only: 'allow', side_effecting: 'allow', privileged: 'allow' },
  prompt: { read_only: 'allow', side_effecting: 'ask', privileged: 'ask' },
  allow: { read_only: 'allow', side_effecting: 'allow', privileged: 'allow' },
};

/**
 * First axis: the tool's tier against the session's posture.
 * - autonomy `read_only` denies everything that acts, whatever the mode;
 * - then the permission mode answers; a privileged tool in a `supervised` session is asked for unless the mode is `allow`.
 */
export function postureRule({ tool, posture }: CallFacts): DecisionReason {
  const { autonomy, permissionMode } = posture;
  const answer = (effect: DecisionReason['effect'], reason: string): DecisionReason => ({ axis: 'facts', rule: 'posture', effect, reason });

  if (autonomy === 'read_only' && tool.tier !== 'read_only') {
    return answer('deny', `${tool.name} is ${tool.tier}, and the session's autonomy is read_only: only read_only tools run`);
  }
  const byMode = ANSWERS[permissionMode][tool.tier];
  if (byMode === 'allow' && autonomy === 'supervised' && tool.tier === 'privileged' && permissionMode !== 'allow') {
    return answer('ask', `${tool.name} is privileged, and a person approves those in a supervised session`);
  }
  return answer(byMode, `${tool.name} is ${tool.tier}; the session's permission mode ${permissionMode} answers ${byMode} for that tier`);
}
