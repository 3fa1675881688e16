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

/** Settings of the process that attempts depend on. */
export interface AttemptConfig {
  /** Id of the worker in its leases and events. */
  readonly id: string;
  readonly leaseMs: number;
  /** Time between an abort and the end of the attempt. */
  readonly stopGraceMs: number;
  /** Longest wait for input without which the call ends. */
  readonly inputMs: number;
  readonly maxAttempts: number;
  readonly maxBackoffMs: number;
  /** Environment that tools may pass to their processes. */
  readonly toolEnv: Readonly<Record<string, string>>;
}

/** Workspaces of calls. */
export interface AttemptWorkspaces {
  /** Configured path of the workspace; links are not resolved. Throws if a name is no label. */
  pathOf(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>): string;
  /** Creates the directory if it is missing; rejects if that fails. `host`: place of the files according to the gateway. */
  resolve(meta: Pick<CallMeta, 'tenantId' | 'sessionId'>, host?: string): Promise<Workspace>;
}

/** Opens and denies paths of a workspace according to the decision about the call. */
export interface AttemptFiles {
  of(workspace: Workspace, configured: string, tool: string, files: FileAccess | undefined): Promise<Workspace>;
}

/** Reads the egress rules of a call by their digest. */
export interface AttemptEgress {
  of(digest: string): Promise<EgressLimits | undefined>;
}

/** Parts of the process that an attempt uses. */
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
  /** Ends the repetition of writes. */
  readonly forcedShutdown: ForcedShutdown;
  /** Set while spans are exported. */
  readonly tracer?: AttemptTraceSource | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: AttemptLog;
}
