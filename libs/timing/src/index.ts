export { backoffMs } from './backoff-ms.js';
export { everyMs, type Ticker } from './every-ms.js';
export { FailurePauses } from './failure-pauses.js';
export { MessageBudget, MessageFlood } from './message-budget.js';
