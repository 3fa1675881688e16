import type { InFlightAttempts, ToolCallProcessor } from '#attempts';
import type { WorkerStatus } from '#contracts';
import type { Memory } from '#memory';
import { VERSION } from '#platform';
import { type RemoteHosts, type SandboxRegistry, findExecutable } from '#sandbox';
import { type BrowserSettings, type LanguageServerSettings, browserStatus, languageServersStatus, programStatus } from '#tools';
import type { WorkerState } from '../platform/worker-state.js';
import type { DiskSpace } from './disk-space.js';
import { availableParallelism, freemem, hostname, loadavg, totalmem } from 'node:os';

/** Most running calls that are listed by id. */
const CALLS_NAMED = 200;

/** State of this worker for `GET /v1/workers`. */
export function workerStatus(
  id: string,
  state: WorkerState,
  processor: ToolCallProcessor,
  running: InFlightAttempts,
  { sandboxes, hosts }: { readonly sandboxes: SandboxRegistry; readonly hosts: RemoteHosts },
  disk: DiskSpace,
  parts: WorkerStatus['parts'],
): WorkerStatus {
  const room = disk.latest;
  return {
    id,
    startedAt: state.startedAt.toISOString(),
    seenAt: new Date().toISOString(),
    draining: state.draining,
    version: VERSION,
    pools: processor.slots(),
    calls: running
      .all()
      .filter((attempt) => attempt.claimed)
      .slice(0, CALLS_NAMED)
      .map((attempt) => attempt.callId),
    sandbox: sandboxes.status(),
    hosts: hosts.status(),
    search: { ok: findExecutable(['rg']) !== undefined },
    parts,
    host: hostStatus(),
    disk: room,
  };
}

/** Parts of this worker that tools may require. */
export function partsOf(
  memory: Memory | undefined,
  { browser, languageServers }: { browser: BrowserSettings; languageServers: LanguageServerSettings },
  sandboxes: SandboxRegistry,
): WorkerStatus['parts'] {
  const { ok, detail } = browserStatus(browser);
  const commands = sandboxes.for('shell');
  return {
    memory: memory?.status() ?? { ok: false, reason: 'DATABASE_URL is not set for the workers' },
    browser: ok ? { ok } : { ok, reason: detail },
    powershell: programStatus(commands, 'powershell'),
    aws: programStatus(commands, 'aws'),
    language_servers: languageServersStatus(languageServers, sandboxes.commands()),
  };
}

/** Machine of this worker and its load. */
function hostStatus(): NonNullable<WorkerStatus['host']> {
  return {
    name: hostname(),
    cores: availableParallelism(),
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    freeBytes: freemem(),
    totalBytes: totalmem(),
  };
}
