export type { CallFacts, ToolFacts } from './call-facts.js';
export { approvalDigest } from './approvals/approval-digest.js';
export { approvalOptions } from './approvals/approval-options.js';
export { decide } from './decide.js';
export { addGrant, alwaysAllow, neverAllow } from './grants/add-grant.js';
export { availability, type Availability } from './grants/availability.js';
export { resolvePolicy } from './grants/resolve-policy.js';
export { trustOptions } from './grants/trust-options.js';
export { matchesTool } from './patterns/tool-pattern.js';
