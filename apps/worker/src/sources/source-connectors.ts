import type { SourceKind } from '#contracts';
import type { SandboxRegistry } from '#sandbox';
import type { SourceConnector } from '#sources';
import type { WorkerConfig } from '../platform/worker.config.js';
import type { WorkerLog } from '../platform/worker.logger.js';

/** How this worker opens sources, by kind. Tools of announced sources run where they were announced. */
export function sourceConnectors(
  _config: WorkerConfig,
  _sandboxes: SandboxRegistry,
  _logger: WorkerLog,
): Partial<Record<SourceKind, SourceConnector>> {
  return {};
}
