import type { ForcedShutdown } from '../forced-shutdown.js';
import type { LeaseRenewer } from '../leases/lease-renewer.js';
import type { FileAccess } from '#contracts';
import type { BlobStore, CallMeta, EventLogWriter } from '#event-log';
import type { HookRunner, HookSnapshotStore } from '#hooks';
import type { RedisMemory } from '#redis';
import type { EgressLimits, ToolRegistry, Workspace } from '#tool-sdk';
import type { AttemptTraceSource } from './attempt-trace.js';
import type { AttemptLog } from './attempt-log.js';
import type { RedactionSettingsService } from './redaction-settings.service.js';
import type { Clock } from '../clock.js';
import type { InFlightAttempts } from './in-flight-attempts.js';

/** The settings of the process that attempts depend on. */
export interface AttemptConfig {
  /** Of the worker, as its leases and events name it. */
  readonly id: string;
  readonly leaseMs: number;
  /** Between an abort and the end of the attempt. */
  readonly stopGraceMs: number;
  /** How long a call waits for input without which it ends. */
  readonly inputMs: number;
  readonly maxAttempts: number;
  readonly maxBackoffMs: number;
  /** The environment that tools may pass to their processes. */
  readonly toolEnv: Readonly<Record<string, string>>;
}

/** The directories in which calls work. */
export interface AttemptWorkspaces {
  /** The workspace as it is configured; links are not resolved. Throws when a name is no label. */
  pathOf(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>): string;
  /** Makes the directory when it is not there. Rejects when that is not possible. `host`: where the gateway says that the files are. */
  resolve(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>, host?: string): Promise<Workspace>;
}

/** Opens and denies paths of a workspace as the decision about the call says. */
export interface AttemptFiles {
  of(workspace: Workspace, configured: string, tool: string, files: FileAccess | undefined): Promise<Workspace>;
}

/** Reads the egress rules of a call by their digest. */
export interface AttemptEgress {
  of(digest: string): Promise<EgressLimits | undefined>;
}

/** What an attempt needs from the rest of the process. */
export interface AttemptDependencies {
  readonly config: AttemptConfig;
  readonly log: EventLogWriter;
  readonly blobs: Pick<BlobStore, 'put' | 'get' | 'delete'>;
  readonly redaction: Pick<RedactionSettingsService, 'defaults' | 'of'>;
  readonly tools: Pick<ToolRegistry, 'for' | 'refresh'>;
  readonly hookSnapshots: Pick<HookSnapshotStore, 'load'>;
  readonly hooks: Pick<HookRunner, 'run'>;
  readonly leases: Pick<LeaseRenewer, 'hold'>;
  readonly inFlight: InFlightAttempts;
  readonly workspaces: AttemptWorkspaces;
  readonly files: AttemptFiles;
  readonly egress: AttemptEgress;
  readonly memory: Pick<RedisMemory, 'level'>;
  /** From its trigger on, writes are not repeated. */
  readonly forcedShutdown: ForcedShutdown;
  /** Set while spans are exported. */
  readonly tracer?: AttemptTraceSource | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: AttemptLog;
}
