// Workers that offer tools to Toolyard: `toolyard-worker/1`, without Redis.
export { ToolyardWorker, type ToolyardWorkerOptions } from './toolyard-worker.js';
export {
  suspend,
  workerTool,
  WorkerToolError,
  type SuspendOptions,
  type WorkerToolContext,
  type WorkerToolOptions,
  type WorkerToolOutput,
} from './worker-tool.js';
export { WorkerRefused, type WorkerSocketConstructor } from './worker-link.port.js';
