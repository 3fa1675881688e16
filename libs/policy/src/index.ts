export { approvalDigest } from './approvals/approval-digest.js';
export { capabilityProfileOf } from './approvals/capability-profile.js';
export { approvalOptions } from './approvals/approval-options.js';
export { decide } from './decide.js';
export { addGrant, alwaysAllow, neverAllow } from './grants/add-grant.js';
export { availability, type Availability } from './grants/availability.js';
export { settingsOf } from './grants/tool-settings.js';
export { resolvePolicy } from './grants/resolve-policy.js';
export { matchesTool } from './patterns/tool-pattern.js';
