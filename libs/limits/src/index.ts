export { limitChecks, type CallTree, type LimitCheck, type LimitedCall } from './limit-checks.js';
export {
  argumentBytesAnswer,
  costAnswer,
  queueDepthAnswer,
  treeDepthAnswer,
  type LimitAnswer,
  type LimitRefusal,
} from './limit-answers.js';
export { CallLimits, type LookAtCalls } from './call-limits.js';
