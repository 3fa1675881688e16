import { forbiddingPattern } from '../patterns/tool-pattern.js';
import type { Rule } from '../rule.js';

/** Third axis: a person said "never" to this tool in this session. Silent otherwise. */
export const sessionDenialRule: Rule = ({ tool, grants }) =>
  forbiddingPattern(grants.deniedTools, tool) === undefined
    ? []
    : [{ axis: 'grants', rule: 'session-denial', effect: 'deny', reason: `Tool was denied by user (${tool.name})` }];
