export { limitChecks, type CallTree, type LimitCheck } from './limit-checks.js';
export { argumentBytesAnswer, costAnswer, queueDepthAnswer, treeDepthAnswer, type LimitResult as LimitAnswer } from './limit-results.js';
export { CallLimits } from './call-limits.js';
