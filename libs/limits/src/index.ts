export { limitChecks, type CallTree, type LimitCheck } from './limit-checks.js';
export { argumentBytesAnswer, costAnswer, queueDepthAnswer, treeDepthAnswer, type LimitAnswer } from './limit-answers.js';
export { CallLimits } from './call-limits.js';
