import type { BlobStore, EventLogWriter } from '#event-log';
import type { HookRunner, HookSets } from '#hooks';
import type { ToolRegistry } from '#tools';
import type { AttemptTracer } from '../tracing/attempt-tracer.js';
import type { LeaseRenewer } from '../lease/lease-renewer.js';
import type { WorkerConfig } from '../worker.config.js';
import type { WorkerLog } from '../worker.logger.js';
import type { SafetyBySettings } from '../safety/safety-settings.service.js';
import type { Clock } from './clock.js';
import type { FileScope } from './file-scope.js';
import type { RunningCalls } from './running-calls.js';
import type { Workspaces } from './workspaces.js';
import type { Leaving } from '../lifecycle/leaving.js';

/** All that running a call needs from the rest of the worker. */
export interface ExecuteDeps {
  readonly config: Pick<WorkerConfig, 'id' | 'leaseMs' | 'stopGraceMs' | 'maxAttempts' | 'maxBackoffMs' | 'toolEnv'>;
  readonly log: EventLogWriter;
  readonly blobs: Pick<BlobStore, 'put' | 'get' | 'forget'>;
  readonly safety: Pick<SafetyBySettings, 'defaults' | 'of'>;
  readonly tools: Pick<ToolRegistry, 'resolve' | 'near' | 'source' | 'checkOutput'>;
  readonly hookSets: Pick<HookSets, 'load'>;
  readonly hooks: Pick<HookRunner, 'run'>;
  readonly leases: Pick<LeaseRenewer, 'hold'>;
  readonly running: RunningCalls;
  readonly workspaces: Workspaces;
  readonly files: Pick<FileScope, 'of'>;
  /** From then on no write is insisted on any more. */
  readonly leaving: Leaving;
  /** There while spans are exported. */
  readonly tracer?: Pick<AttemptTracer, 'begin'> | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: WorkerLog;
}
