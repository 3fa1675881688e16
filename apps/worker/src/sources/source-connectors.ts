import { join } from 'node:path';
import type { SourceKind, StoredSource } from '#contracts';
import type { CallStore } from '#event-log';
import type { SandboxRegistry } from '#sandbox';
import { AgentConnector, configuredModel, type AgentLoopParts } from '#agents';
import {
  FolderConnector,
  McpConnector,
  OpenApiConnector,
  PluginConnector,
  type AuthorizationStore,
  type LoadedPlugin,
  type SourceConnector,
  type UploadedBundles,
} from '#sources';
import type { WorkerConfig } from '../platform/worker.config.js';
import type { WorkerLog } from '../platform/worker.logger.js';

/** Below the folder of workspaces, under a name that no tenant can have. */
const PROGRAMS_FOLDER = '~sources';

/** How this worker opens sources, by kind. Tools of announced sources run where they were announced. */
export function sourceConnectors(
  { egress, env, toolEnv, workspaceRoot }: Pick<WorkerConfig, 'egress' | 'env' | 'toolEnv' | 'workspaceRoot'>,
  sandboxes: Pick<SandboxRegistry, 'for'>,
  logger: WorkerLog,
  agents: AgentLoopParts,
  calls: Pick<CallStore, 'snapshot'>,
  plugins: readonly LoadedPlugin[],
  uploaded: Pick<UploadedBundles, 'keep' | 'read'>,
  authorizations: AuthorizationStore,
): Partial<Record<SourceKind, SourceConnector>> {
  const sandboxOf = sandboxes.for.bind(sandboxes);
  const isOver = async (callId: string) => ((await calls.snapshot(callId))?.status ?? 'ended') === 'ended';
  const log = (message: string, facts: object) => logger.warn(facts, message);
  return {
    mcp: new McpConnector({
      sandboxOf,
      egress,
      env,
      toolEnv,
      isOver,
      uploaded,
      authorizations,
      modelOf: (settings) => configuredModel(settings, { env, egress }),
      folder: join(workspaceRoot, PROGRAMS_FOLDER),
    }),
    openapi: new OpenApiConnector({ egress, env, log }),
    folder: new FolderConnector({ sandboxOf, env, log }),
    agent: new AgentConnector({ ...agents, env, egress }),
    plugin: new PluginConnector(plugins, log),
  };
}

/** The sources of TOOLYARD_TOOLS. The operator of the worker owns these files: their facts count, and changes hold at once. */
export function folderSources(folders: readonly string[]): StoredSource[] {
  return folders.map((path, index) => ({
    tenantId: '*',
    origin: 'config',
    definition: { name: index === 0 ? 'folder' : `folder-${index + 1}`, kind: 'folder', path, trust: true, pin: false },
  }));
}
