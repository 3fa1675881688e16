import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import { ALL_TENANTS } from '#contracts';
import type { RedisConnection } from '#redis';
import type { SourceSample } from '#observability';
import { isPending, sourceLabel, SourceStore, SourceWatcher, TenantCatalog, type PinnedSource, type RunSourceTool } from '#sources';
import { ToolRegistry } from '#tool-sdk';
import { FAIL_FAST_REDIS, LOGGER } from '../platform/tokens.js';

/** Tools of sources in the registry of this gateway: listed and validated here, run by workers. */
@Injectable()
export class SourceCatalog implements OnModuleInit, OnApplicationBootstrap {
  readonly store: SourceStore;
  private readonly watcher: SourceWatcher;
  private runner: RunSourceTool | undefined;

  constructor(
    private readonly tools: ToolRegistry,
    @Inject(FAIL_FAST_REDIS) redis: RedisConnection,
    @Inject(LOGGER) log: Logger,
  ) {
    this.store = new SourceStore(redis);
    this.watcher = new SourceWatcher(this.store, {
      onError: (error) => log.debug({ err: error }, 'the catalog of sources could not be read'),
    });
  }

  onModuleInit(): void {
    this.tools.attach(new TenantCatalog(this.watcher, { run: (...args) => this.run(...args), close: async () => this.watcher.close() }));
  }

  /** Resolves after the first read: this gateway knows all sources before it accepts requests. */
  async onApplicationBootstrap(): Promise<void> {
    await this.watcher.start();
  }

  /** Sources visible to a tenant: its own, and those of all tenants. */
  async visibleTo(tenantId: string): Promise<PinnedSource[]> {
    await this.watcher.refresh();
    return this.watcher.list().filter(({ entry }) => entry.tenantId === tenantId || entry.tenantId === ALL_TENANTS);
  }

  /** Reads changes now. Never rejects. */
  refresh(): Promise<void> {
    return this.watcher.refresh();
  }

  /** Sets the runner of foreign workers' tools, through which this gateway runs them. */
  runWith(runner: RunSourceTool): void {
    this.runner = runner;
  }

  private async run(...[source, rawName, args, ctx]: Parameters<RunSourceTool>): ReturnType<RunSourceTool> {
    const { runner } = this;
    if (runner === undefined) throw new Error(`the source ${source.name} cannot be run in this process`);
    return runner(source, rawName, args, ctx);
  }

  /** Samples of all tenants' sources, for metrics. */
  samples(): SourceSample[] {
    return this.watcher.list().map((pinned) => {
      const { entry } = pinned;
      const pending = entry.tools.filter((_, index) => isPending(pinned, index)).length;
      const status = entry.status === 'ok' && pending > 0 ? 'pending' : entry.status;
      return { source: sourceLabel(entry), status, tools: entry.tools.length, pending };
    });
  }
}
