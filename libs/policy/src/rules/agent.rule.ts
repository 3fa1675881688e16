import { globMatches } from '#patterns';
import type { CallFacts } from '../call-facts.js';
import { agentTrust } from '../grants/argument-trust.js';
import { settingsOf } from '../grants/tool-settings.js';
import { isUnattended } from '../risk-arguments/risk-arguments.js';
import type { RuleResult, Rule } from '../rule.js';

/**
 * Second axis: agents that the call would start. Denies agents outside of `availableAgents` of the tool's settings; allows
 * `trustedAgents`; asks for approval of all others.
 */
export const agentRule: Rule = (facts, { agents }) => [...new Set(agents)].map((name) => answer(name, facts));

function answer(name: string, facts: CallFacts): RuleResult {
  const said = { axis: 'risk', rule: 'agent' } as const;
  const { availableAgents } = settingsOf(facts.tool, facts.policy);
  if (availableAgents !== undefined && !availableAgents.some((pattern) => globMatches(pattern, name)))
    return { ...said, effect: 'deny', reason: `Agent '${name}' is not available for crew stages` };
  const trust = agentTrust(name, facts);
  if (trust !== undefined) return { ...said, effect: 'allow', reason: trust };
  if (isUnattended(facts.posture)) return { ...said, effect: 'allow', reason: 'this posture asks nothing about agents' };
  return { ...said, effect: 'ask', reason: `the agent '${name}' is not trusted`, liftedBy: 'arguments' };
}
