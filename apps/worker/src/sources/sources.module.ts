import { type DynamicModule, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { AgentGateway, AgentJournal } from '#sub-agents';
import { CallStore } from '#event-log';
import { Memory } from '#memory';
import { GatewayRequests } from '#queue';
import type { RedisConnection } from '#redis';
import { SandboxRegistry } from '#sandbox';
import { AuthorizationStore, type LoadedPlugin, SourceHost, SourceStore, SourceWatcher, TenantCatalog, UploadedBundles } from '#sources';
import { ToolRegistry } from '#tool-sdk';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { LOGGER, type WorkerLog } from '../platform/worker.logger.js';
import { BUFFERED_REDIS } from '../platform/worker.tokens.js';
import { UserMemory } from './agent-memory.js';
import { sourceEvents } from './source-events.js';
import { folderSources, sourceConnectors } from './source-connectors.js';

/** Plugins that this worker has loaded. */
const PLUGINS = Symbol('PLUGINS');

/** Runs tools of sources: MCP servers, folders. The registry of the worker closes them. */
@Module({
  providers: [
    {
      provide: SourceHost,
      inject: [WORKER_CONFIG, BUFFERED_REDIS, ToolRegistry, SandboxRegistry, LOGGER, CallStore, GatewayRequests, PLUGINS, Memory],
      useFactory: (
        config: WorkerConfig,
        redis: RedisConnection,
        tools: ToolRegistry,
        sandboxes: SandboxRegistry,
        logger: WorkerLog,
        calls: CallStore,
        requests: GatewayRequests,
        plugins: readonly LoadedPlugin[],
        memory: Memory | undefined,
      ) => {
        const store = new SourceStore(redis);
        const watcher = new SourceWatcher(store, {
          onError: (error) => logger.debug({ err: error }, 'the catalog of sources could not be read'),
        });
        const host = new SourceHost({
          redis,
          store,
          watcher,
          connectors: sourceConnectors(
            config,
            sandboxes,
            logger,
            { gateway: new AgentGateway(requests), journal: new AgentJournal(redis), memory: new UserMemory(memory, logger), calls, tools },
            calls,
            plugins,
            new UploadedBundles(redis),
            new AuthorizationStore(redis, config.sourceTokenKey),
          ),
          local: [...folderSources(config.toolFolders), ...plugins.map(({ source }) => source)],
          workerId: config.id,
          pools: config.pools.map(({ pool }) => pool),
          log: (message, facts) => logger.warn(facts, message),
          report: sourceEvents(redis, config, logger),
        });
        tools.attach(new TenantCatalog(watcher, { run: host.run, close: () => host.close() }));
        return host;
      },
    },
  ],
})
export class SourcesModule implements OnApplicationBootstrap {
  constructor(private readonly host: SourceHost) {}

  static with(plugins: readonly LoadedPlugin[]): DynamicModule {
    return { module: SourcesModule, providers: [{ provide: PLUGINS, useValue: plugins }] };
  }

  /** Starts the sources before the worker accepts calls. */
  async onApplicationBootstrap(): Promise<void> {
    await this.host.start();
  }
}
