import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Pool, ToolDescriptor, WorkerStatus } from '#contracts';
import type { Availability } from '#policy';
import { hostFor, type HostRule, type RemoteCaller } from '#sandbox';
import { everyMs, type Ticker } from '#timing';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { WorkerRegistry } from './worker-registry.service.js';

/** Interval of the workers' heartbeats. */
const LOOK_MS = 2_000;

const READY: Availability = { ok: true };

type NamedHostRule = HostRule & { readonly name: string };
type Tool = Pick<ToolDescriptor, 'name' | 'pool' | 'subjects' | 'available' | 'requires'>;

/**
 * Availability of tools on the live workers. Refreshed in the background; calls never wait. Before the first refresh every tool
 * counts as available. Independent of policy.
 */
@Injectable()
export class ToolAvailabilityService implements OnApplicationBootstrap, OnApplicationShutdown {
  private workers: readonly WorkerStatus[] = [];
  /** Pools that had a worker since the start of this gateway. */
  private readonly served = new Set<Pool>();
  private readonly slots = new Map<Pool, number>();
  /** Host rules of the config file. */
  private readonly ownHosts: readonly NamedHostRule[];
  /** Host rules of the config file and those that workers announce. */
  private hosts: readonly NamedHostRule[];
  private ticker: Ticker | undefined;
  private looks = 0;
  /** Number of the latest answered refresh: an earlier one may be answered later. */
  private answered = 0;

  constructor(
    private readonly registry: WorkerRegistry,
    @Inject(LOGGER) private readonly log: Logger,
    @Inject(GATEWAY_CONFIG) { remoteHosts = {} }: Pick<GatewayConfig, 'remoteHosts'>,
  ) {
    this.ownHosts = Object.entries(remoteHosts).map(([name, { tenant, agents, sessions }]) => ({ name, tenant, agents, sessions }));
    this.hosts = this.ownHosts;
  }

  onApplicationBootstrap(): void {
    this.ticker = everyMs(LOOK_MS, () => this.refresh());
    void this.refresh();
  }

  onApplicationShutdown(): void {
    this.ticker?.unsubscribe();
  }

  /** Refreshes the list of workers. Never rejects: the last list stays while Redis is unreachable. */
  async refresh(): Promise<void> {
    const look = ++this.looks;
    try {
      const all = await this.registry.all();
      if (look < this.answered) return;
      this.answered = look;
      this.workers = all.filter(({ draining, foreign }) => !draining && foreign === undefined);
      this.hosts = [...this.ownHosts, ...this.workersOf('shell').flatMap(({ hosts = [] }) => hosts)];
      this.slots.clear();
      for (const { pool, slots } of this.workers.flatMap(({ pools }) => pools)) {
        this.slots.set(pool, (this.slots.get(pool) ?? 0) + slots);
        this.served.add(pool);
      }
    } catch (error) {
      this.log.debug({ err: error }, 'could not read the list of live workers');
    }
  }

  /**
   * Reason why calls of the tool fail at the start: its source is gone, or every worker of its pool refuses to run commands or
   * lacks a requirement.
   */
  isRunnable(tool: Tool): Availability {
    const { name, pool, subjects, available } = tool;
    if (!available.ok) return available;
    const lacking = this.lackingPart(tool);
    if (lacking !== undefined) return { ok: false, reason: `${name} is not available: ${lacking}` };
    if (!subjects.some(({ kind }) => kind === 'command')) return READY;
    // Leaves the check to the worker if commands of some calls run on other hosts.
    if (this.workersOf(pool).some(({ hosts = [] }) => hosts.length > 0)) return READY;
    const sandboxes = this.workersOf(pool).map(({ sandbox }) => sandbox?.[pool]);
    const [first] = sandboxes;
    if (first === undefined || sandboxes.some((sandbox) => sandbox?.ok !== false)) return READY;
    return { ok: false, reason: `${name} is not available: no worker of the pool ${pool} runs commands (${first.reason ?? 'no sandbox'})` };
  }

  /** Reason why no worker of the pool meets the tool's requirements; undefined while one meets or may meet them. */
  private lackingPart({ pool, requires = [] }: Tool): string | undefined {
    for (const part of requires) {
      const states = this.workersOf(pool).map(({ parts }) => parts?.[part]);
      if (states.length > 0 && states.every((state) => state?.ok === false))
        return `no worker of the pool ${pool} has the ${part} (${states[0]?.reason ?? 'not configured'})`;
    }
    return undefined;
  }

  /** Like `isRunnable`, and requires a live worker. For the catalog: calls are accepted without one, and wait. */
  hasLiveWorker(tool: Tool): Availability {
    const { name, pool } = tool;
    if (this.workersOf(pool).length === 0 && (this.workers.length > 0 || this.served.has(pool)))
      return { ok: false, reason: `no_worker: no live worker serves the pool ${pool} of ${name}; its calls wait for one` };
    return this.isRunnable(tool);
  }

  /** Host that runs the caller's commands; undefined for the workers themselves. */
  hostOf(caller: RemoteCaller): string | undefined {
    return hostFor(this.hosts, caller)?.name;
  }

  /** Slots of the pool over all workers; undefined while none is known to serve it. */
  slotsOf(pool: Pool): number | undefined {
    return this.slots.get(pool);
  }

  private workersOf(pool: Pool): WorkerStatus[] {
    return this.workers.filter(({ pools }) => pools.some((served) => served.pool === pool));
  }
}
