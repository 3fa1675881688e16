import type { ForcedShutdown, LeaseRenewer } from '#attempts';
import type { BlobStore, EventLogWriter } from '#event-log';
import type { HookRunner, HookSnapshotStore } from '#hooks';
import type { ToolRegistry } from '#tool-sdk';
import type { AttemptTraceSource } from './attempt-trace.js';
import type { WorkerConfig } from '../platform/worker.config.js';
import type { WorkerLog } from '../platform/worker.logger.js';
import type { RedactionSettingsService } from './redaction-settings.service.js';
import type { Clock } from '../platform/clock.js';
import type { FileScope } from './file-scope.js';
import type { InFlightAttempts } from './in-flight-attempts.js';
import type { Workspaces } from './workspaces.js';

/** What an attempt needs from the rest of the worker. */
export interface AttemptDependencies {
  readonly config: Pick<WorkerConfig, 'id' | 'leaseMs' | 'stopGraceMs' | 'maxAttempts' | 'maxBackoffMs' | 'toolEnv'>;
  readonly log: EventLogWriter;
  readonly blobs: Pick<BlobStore, 'put' | 'get' | 'delete'>;
  readonly redaction: Pick<RedactionSettingsService, 'defaults' | 'of'>;
  readonly tools: Pick<ToolRegistry, 'resolve' | 'suggest' | 'source' | 'checkOutput'>;
  readonly hookSnapshots: Pick<HookSnapshotStore, 'load'>;
  readonly hooks: Pick<HookRunner, 'run'>;
  readonly leases: Pick<LeaseRenewer, 'hold'>;
  readonly inFlight: InFlightAttempts;
  readonly workspaces: Workspaces;
  readonly files: Pick<FileScope, 'of'>;
  /** From its trigger on, writes are not repeated. */
  readonly forcedShutdown: ForcedShutdown;
  /** Set while spans are exported. */
  readonly tracer?: AttemptTraceSource | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: WorkerLog;
}
