export { limitChecks, type LimitCheck } from './limit-checks.js';
export { argumentBytesResult, costResult, queueDepthResult, treeDepthResult, type LimitResult } from './limit-results.js';
export { CallLimits } from './call-limits.js';
