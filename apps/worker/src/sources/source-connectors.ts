import { join } from 'node:path';
import type { SourceKind } from '#contracts';
import type { SandboxRegistry } from '#sandbox';
import { McpConnector, type SourceConnector } from '#sources';
import type { WorkerConfig } from '../platform/worker.config.js';

/** Below the folder of workspaces, under a name that no tenant can have. */
const PROGRAMS_FOLDER = '~sources';

/** How this worker opens sources, by kind. Tools of announced sources run where they were announced. */
export function sourceConnectors(
  { egress, env, toolEnv, workspaceRoot }: Pick<WorkerConfig, 'egress' | 'env' | 'toolEnv' | 'workspaceRoot'>,
  sandboxes: Pick<SandboxRegistry, 'for'>,
): Partial<Record<SourceKind, SourceConnector>> {
  const sandboxOf = sandboxes.for.bind(sandboxes);
  return { mcp: new McpConnector({ sandboxOf, egress, env, toolEnv, folder: join(workspaceRoot, PROGRAMS_FOLDER) }) };
}
