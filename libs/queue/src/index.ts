export type { DequeueHookResult } from './dequeue-hook.js';
export type * from './queue.port.js';
export { BullCallQueue } from './call-queue.js';
export { dispatchWoken } from './dispatch-woken.js';
export { ScheduleQueue, type DueRun } from './schedule-queue.js';
export { startConsumer } from './call-consumer.js';
export type { QueueBackend } from './bull-settings.js';
export { GatewayRequestConsumer, GatewayRequests, type AgentTurnRequest, type ToolRequest } from './gateway-requests.js';
