import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { Tracing } from '#observability';
import { GatewayRequests } from '#queue';
import { RemoteHosts, Sandbox, SandboxRegistry } from '#sandbox';
import { BROWSER_SETTINGS, BackgroundRuns, Interpreters, LanguageServers, SessionEnds, ToolGateway, ToolsModule } from '#tools';
import { CallStore } from '#event-log';
import { ConfigError } from '#platform';
import type { RedisConnection } from '#redis';
import { OwnedInterpreters } from './background/owned-interpreters.js';
import { CallBackgroundRuns } from './background/call-background-runs.js';
import { AttemptsModule } from './attempts/attempts.module.js';
import { LeasesModule } from './leases/leases.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { PlatformModule } from './platform/platform.module.js';
import { pluginsOf } from './sources/plugins-of.js';
import { QueuedToolGateway } from './platform/queued-tool-gateway.js';
import { WORKER_CONFIG, type WorkerConfig } from './platform/worker.config.js';
import type { WorkerLog } from './platform/worker.logger.js';
import { RecoveryModule } from './recovery/recovery.module.js';
import { BUFFERED_REDIS } from './platform/worker.tokens.js';
import { RegistryModule } from './registry/registry.module.js';
import { SourcesModule } from './sources/sources.module.js';

const INTERPRETERS = {
  provide: Interpreters,
  inject: [BUFFERED_REDIS, WORKER_CONFIG, SessionEnds],
  useFactory: (redis: RedisConnection, { id }: WorkerConfig, ends: SessionEnds) => {
    const interpreters = new OwnedInterpreters(redis, id);
    ends.subscribe((session) => void interpreters.endOf(session));
    return interpreters;
  },
};

const BACKGROUND_RUNS = {
  provide: BackgroundRuns,
  inject: [BUFFERED_REDIS, CallStore],
  useFactory: (redis: RedisConnection, calls: CallStore) => new CallBackgroundRuns(redis, calls),
};

/**
 * Opens hosts; connects in the background, so that an unreachable host does not delay the start. @throws ConfigError for a
 * missing private key
 */
function openHosts({ remoteHosts, sandbox, env }: WorkerConfig, logger: WorkerLog): RemoteHosts {
  try {
    const onFailure = (host: string, { reason }: { readonly reason: string }) =>
      logger.warn({ host, reason }, 'host for commands is unusable');
    const hosts = new RemoteHosts(remoteHosts, { limits: sandbox.limits, env, onFailure });
    void hosts.watch();
    return hosts;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}

/** Composition of the worker. Each folder is one feature; see `apps/README.md`. */
@Module({})
export class WorkerModule {
  /** Rejects if a required sandbox is not available. */
  static async forRoot(
    config: WorkerConfig,
    logger: WorkerLog,
    tracing: Tracing | undefined,
    tools: readonly Type[],
  ): Promise<DynamicModule> {
    const sandboxes = await SandboxRegistry.open(
      config.sandbox,
      config.pools.map(({ pool }) => pool),
    );
    for (const warning of sandboxes.warnings()) logger.warn(warning);
    const hosts = openHosts(config, logger);
    return {
      module: WorkerModule,
      imports: [
        PlatformModule.forRoot({ config, logger, sandboxes, hosts, tracing }),
        await ToolsModule.forRoot({
          tools,
          providers: [
            { provide: Sandbox, useValue: sandboxes.for('shell') },
            { provide: RemoteHosts, useValue: hosts },
            BACKGROUND_RUNS,
            INTERPRETERS,
            { provide: BROWSER_SETTINGS, useValue: config.browser },
            SessionEnds,
            {
              provide: LanguageServers,
              inject: [SessionEnds],
              useFactory: (ends: SessionEnds) => {
                const servers = new LanguageServers(config.languageServers, sandboxes.for('shell'));
                ends.subscribe((session) => void servers.endOf(session));
                return servers;
              },
            },
            { provide: ToolGateway, inject: [GatewayRequests], useFactory: (requests: GatewayRequests) => new QueuedToolGateway(requests) },
          ],
        }),
        SourcesModule.with(await pluginsOf(config)),
        LeasesModule,
        AttemptsModule,
        RecoveryModule,
        RegistryModule,
        OperationsModule,
      ],
    };
  }
}
