import { join } from 'node:path';
import type { SourceKind, StoredSource } from '#contracts';
import type { CallStore } from '#event-log';
import { telemetry } from '#observability';
import { WorkspaceQuotas, type SandboxRegistry } from '#sandbox';
import { AgentConnector, configuredModel, type AgentLoopParts } from '#sub-agents';
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

/** Folder below that of workspaces, with a name that no tenant can have. */
const PROGRAMS_FOLDER = '~sources';

/** Connectors of this worker by kind of source. Tools of announced sources run in their announcer. */
export function sourceConnectors(
  { egress, env, toolEnv, workspaceRoot, quotas }: Pick<WorkerConfig, 'egress' | 'env' | 'toolEnv' | 'workspaceRoot' | 'quotas'>,
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
      quotas: new WorkspaceQuotas(quotas, (refusal) => telemetry.quotaRefused.emit(refusal)),
    }),
    openapi: new OpenApiConnector({ egress, env, log }),
    folder: new FolderConnector({ sandboxOf, env, log }),
    agent: new AgentConnector({ ...agents, env, egress }),
    plugin: new PluginConnector(plugins, log),
  };
}

/** Sources of TOOLYARD_TOOLS. Their files belong to the operator: their facts are trusted, and changes apply at once. */
export function folderSources(folders: readonly string[]): StoredSource[] {
  return folders.map((path, index) => ({
    tenantId: '*',
    origin: 'config',
    definition: { name: index === 0 ? 'folder' : `folder-${index + 1}`, kind: 'folder', path, trust: true, pin: false },
  }));
}
