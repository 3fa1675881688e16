import { availability } from '../grants/availability.js';
import type { Rule } from '../rule.js';

/** Third axis: a tool that the agent does not have is refused, however it came by the name. Silent when the tool is there. */
export const availabilityRule: Rule = ({ tool, policy }) => {
  const { ok, reason } = availability(tool, policy);
  return ok ? [] : [{ axis: 'grants', rule: 'availability', effect: 'deny', reason: reason ?? `${tool.name} is not available` }];
};
