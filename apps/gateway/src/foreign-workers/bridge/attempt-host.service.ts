import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import {
  AttemptFollowUp,
  CancelListener,
  drainAttempts,
  executeAttempt,
  ForcedShutdown,
  InFlightAttempts,
  LeaseRenewer,
  RedactionSettingsService,
  RenewalLoop,
  systemClock,
  type AttemptDependencies,
  type AttemptOptions,
} from '#attempts';
import type { CallJob, Pool } from '#contracts';
import { BlobStore, CallStore, EventLog, isApplied } from '#event-log';
import { HookRunner, HookSnapshotStore } from '#hooks';
import { BullCallQueue } from '#queue';
import { ContentAddressedStore, createRedis, RedisMemory, type RedisConnection } from '#redis';
import { ToolRegistry } from '#tool-sdk';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { BUFFERED_REDIS, LOGGER } from '../../platform/tokens.js';

/** Attempts that one gateway hosts at a time. */
const LEASES = 20_000;
const MAX_BACKOFF_MS = 600_000;

interface HostedAttempt extends Pick<AttemptOptions, 'claimToken' | 'takenOver'> {
  readonly job: CallJob;
  readonly queue: string;
  readonly pool: Pool;
  /** Id of the worker in leases and events. */
  readonly worker: string;
  /** Receives the fence, and true if the last event of the attempt is in the log. Not called for an attempt that was not claimed. */
  readonly ended: (fence: number, written: boolean) => void;
}

/**
 * Attempts of this gateway whose tools run in foreign workers: claimed, renewed and committed as those of the built-in
 * worker, by the same stages. Idle until the first worker connects.
 */
@Injectable()
export class AttemptHost {
  readonly inFlight = new InFlightAttempts();
  readonly followUp: AttemptFollowUp;
  private readonly forcedShutdown = new ForcedShutdown();
  private opened: { readonly deps: AttemptDependencies; readonly leases: LeaseRenewer; readonly cancels: CancelListener } | undefined;
  private folder: string | undefined;

  constructor(
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    @Inject(BUFFERED_REDIS) private readonly redis: RedisConnection,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly log: EventLog,
    private readonly store: CallStore,
    private readonly blobs: BlobStore,
    private readonly tools: ToolRegistry,
    private readonly hooks: HookRunner,
    private readonly hookSnapshots: HookSnapshotStore,
    private readonly memory: RedisMemory,
    queue: BullCallQueue,
  ) {
    this.followUp = new AttemptFollowUp(queue, store, logger);
  }

  /** Starts the renewal of leases and the subscription to cancels. Idempotent. */
  async open(): Promise<void> {
    if (this.opened !== undefined) return;
    const { leaseMs, stopGraceMs, redisUrl } = this.config;
    const leases = new LeaseRenewer(
      LEASES,
      (table, notify) => {
        const loop = new RenewalLoop(this.log, table, leaseMs, notify);
        return { close: async () => loop.close() };
      },
      (error) => this.logger.error({ err: error }, 'lease renewal stopped; it is restarted'),
    );
    const subscriber = createRedis(redisUrl, { role: 'subscriber', name: 'gateway-cancels' });
    const cancels = new CancelListener(subscriber, this.store, this.inFlight, stopGraceMs, this.logger);
    this.opened = { deps: this.dependencies(leases), leases, cancels };
    await cancels.start();
  }

  /** Runs one attempt in the name of a worker. Resolves when it is over. */
  async run({ job, queue, pool, worker, ended, ...options }: HostedAttempt): Promise<void> {
    if (this.opened === undefined) throw new Error('AttemptHost.open comes first.');
    const { deps } = this.opened;
    const outcome = await executeAttempt(job, pool, { ...deps, config: { ...deps.config, id: worker } }, options);
    this.followUp.after(queue, job, outcome);
    if (outcome.kind === 'not_claimed') return;
    const { claimed, committed } = outcome;
    ended(claimed.fence, committed.kind !== 'nothing' && isApplied(committed.answer));
  }

  /** Continues an attempt that another gateway hosted, so that it does not count as lost. Undefined for one that is over or has a newer fence. */
  async renew(callId: string, fence: number): Promise<{ readonly cancelRequested: boolean } | undefined> {
    const answer = await this.log.renew({ callId, fence, leaseMs: this.config.leaseMs });
    return answer.code === 'OK' ? answer : undefined;
  }

  /** Resolves when no attempt is in flight, or after `ms`. */
  async idle(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    await Promise.race([this.inFlight.idle(), late]);
    clearTimeout(timer);
  }

  /** Ends the attempts within the grace of their tools. Idempotent. */
  async close(): Promise<void> {
    this.followUp.close();
    await drainAttempts(this.inFlight, { drainMs: 0, stopGraceMs: this.config.stopGraceMs });
    this.forcedShutdown.trigger();
    this.opened?.cancels.close();
    await this.opened?.leases.close();
    this.opened = undefined;
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true });
  }

  private dependencies(leases: LeaseRenewer): AttemptDependencies {
    const { config } = this;
    // Tools have no workspace here. Hooks of the operator run in an empty folder.
    const root = mkdtempSync(join(tmpdir(), 'toolyard-gateway-'));
    this.folder = root;
    return {
      config: {
        id: config.name,
        leaseMs: config.leaseMs,
        stopGraceMs: config.stopGraceMs,
        inputMs: config.inputMs,
        maxAttempts: config.retryMaxAttempts,
        maxBackoffMs: MAX_BACKOFF_MS,
        toolEnv: {},
      },
      log: this.log,
      blobs: this.blobs,
      redaction: new RedactionSettingsService(new ContentAddressedStore(this.redis), config.secrets ?? []),
      tools: this.tools,
      hookSnapshots: this.hookSnapshots,
      hooks: this.hooks,
      leases,
      inFlight: this.inFlight,
      workspaces: { pathOf: () => root, resolve: async () => ({ root }) },
      files: { of: async (workspace) => workspace },
      egress: { of: async () => undefined },
      memory: this.memory,
      forcedShutdown: this.forcedShutdown,
      clock: systemClock,
      random: Math.random,
      logger: this.logger,
    };
  }
}
