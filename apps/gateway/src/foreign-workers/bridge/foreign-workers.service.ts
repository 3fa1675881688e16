import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import {
  CLOSE_CODES,
  ProblemError,
  type Principal,
  type WorkerFrame,
  type WorkerFrameOf,
  type WorkerHello,
  type WorkerTool,
  type WorkerWelcome,
} from '#contracts';
import { CallStore } from '#event-log';
import { startConsumer, type StartConsumer } from '#queue';
import type { RedisConnection } from '#redis';
import type { ForeignWorkersSample } from '#observability';
import { countedCall, sourceKey, type RunSourceTool, type SourceId } from '#sources';
import { everyMs, type Ticker } from '#timing';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { BUFFERED_REDIS, LOGGER } from '../../platform/tokens.js';
import { SourceCatalog } from '../../sources/source-catalog.service.js';
import type { SessionEffect } from '../session/worker-session.js';
import { AttemptHost } from './attempt-host.service.js';
import { CallGrantsService } from './call-grants.service.js';
import { claimToken } from './claim-token.js';
import { ConnectedWorker, type WorkerTransport } from './connected-worker.js';
import { keyRefusal } from './key-refusal.js';
import { LostCalls } from './lost-calls.js';
import { RemoteCalls } from './remote-calls.js';
import { WorkerAnnouncer } from './worker-announcer.service.js';
import { WorkerFloods } from './worker-floods.service.js';
import { WorkerGroup } from './worker-group.js';
import { WorkerOutputs } from './worker-outputs.service.js';

const RENEW_MS = 500;
/** Time to connect again before the tools of a worker leave the catalog. */
const RECONNECT_MS = 1_000;
const GOING_AWAY = 1001;
const SILENT = 4008;

/** Workers in other languages: their connections, their calls and their tools. */
@Injectable()
export class ForeignWorkers implements OnModuleInit {
  private readonly groups = new Map<string, WorkerGroup>();
  private readonly calls: RemoteCalls;
  private readonly lost: LostCalls;
  private readonly startConsumer: StartConsumer;
  private tickers: readonly Ticker[] = [];

  constructor(
    private readonly host: AttemptHost,
    private readonly announcer: WorkerAnnouncer,
    private readonly catalog: SourceCatalog,
    private readonly store: CallStore,
    private readonly apiKeys: ApiKeyStore,
    private readonly shutdown: ShutdownState,
    grants: CallGrantsService,
    outputs: WorkerOutputs,
    private readonly floods: WorkerFloods,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    @Inject(LOGGER) private readonly log: Logger,
    @Inject(BUFFERED_REDIS) connection: RedisConnection,
  ) {
    const mayRun = (worker: ConnectedWorker) => apiKeys.rejection(worker.principal, 'work') === undefined;
    this.calls = new RemoteCalls(host.inFlight, grants, outputs, (worker, effects) => this.apply(worker, effects), mayRun);
    this.lost = new LostCalls(this.calls, host, store, (worker, effects) => this.apply(worker, effects));
    const { redisUrl, queueBackend: backend, leaseMs: lockMs, name: workerName } = config;
    const onError = (error: Error) => log.error({ err: error }, 'the queue of a foreign worker failed');
    this.startConsumer = startConsumer({ redisUrl, backend, lockMs, connection, workerName, onError });
  }

  onModuleInit(): void {
    this.catalog.runWith(this.run);
    this.apiKeys.onChange(() => this.endWithoutKey());
  }

  /** @throws ProblemError when the worker is refused */
  async connect(
    principal: Principal,
    hello: WorkerHello,
    transport: WorkerTransport,
  ): Promise<{ worker: ConnectedWorker; welcome: WorkerWelcome }> {
    if (this.shutdown.draining) throw new ProblemError('overloaded', 'This gateway is going away; connect again', { retryAfterMs: 1_000 });
    const pauseMs = await this.floods.leftMs(principal);
    if (pauseMs > 0)
      throw new ProblemError(
        'too_many_requests',
        `A worker of this key sent too many frames; connect again in ${Math.ceil(pauseMs / 1_000)} s`,
        { retryAfterMs: Math.ceil(pauseMs) },
      );
    this.assertKeyAllows(principal, hello.worker, hello.tools);
    const { op: _op, protocol: _protocol, tools, ...about } = hello;
    const worker = new ConnectedWorker(principal, about, tools, transport);
    const { label } = await this.announcer.rulesOf(idOf(worker));
    await this.host.open();
    this.startTimers();
    const group = this.groupOf(worker);
    group.label = label;
    group.workers.add(worker);
    try {
      const made = await group.announce();
      await this.announcer.report(worker, new Set());
      const taken = made.tools.filter(({ descriptor }) => worker.has(descriptor.name));
      const { leaseMs } = this.config;
      const welcome: WorkerWelcome = {
        op: 'welcome',
        workerId: worker.id,
        leaseMs,
        heartbeatMs: this.heartbeatMs,
        tools: taken.map(({ rawName, descriptor }) => ({ name: rawName, pool: descriptor.pool })),
        problems: [...made.problems],
      };
      this.log.info({ worker: worker.id, source: worker.source, tenant: worker.tenantId, sdk: hello.sdk }, 'a foreign worker connected');
      return { worker, welcome };
    } catch (error) {
      await this.disconnect(worker);
      throw error;
    }
  }

  receive(worker: ConnectedWorker, frame: WorkerFrame): void {
    worker.seenAt = performance.now();
    this.apply(worker, worker.session.receive(frame));
  }

  /** Adjusts the queues of the worker's group. Called when its transport is full, or no longer. */
  updateQueues(worker: ConnectedWorker): void {
    if (!worker.isGone) this.groupOf(worker).update();
  }

  /** Removes a closed connection. The worker may connect again and continue its calls until their leases end. */
  async disconnect(worker: ConnectedWorker): Promise<void> {
    if (worker.isGone) return;
    worker.isGone = true;
    const group = this.groupOf(worker);
    group.workers.delete(worker);
    group.update();
    await this.announcer.forget(worker);
    setTimeout(() => void this.withdraw(group), RECONNECT_MS).unref();
  }

  /** Stops a worker that exceeded its rate: its calls are requeued, or end as unknown. Its key is paused longer each time. */
  flooded(principal: Principal, worker: ConnectedWorker | undefined, why: string): ProblemError {
    const pauseMs = this.floods.begin(principal);
    const { tenantId: tenant, keyId: key } = principal;
    this.log.warn({ tenant, key, worker: worker?.id, source: worker?.source, pauseMs }, `a foreign worker was stopped: ${why}`);
    if (worker !== undefined) {
      this.calls.requeue(worker);
      void this.disconnect(worker);
    }
    return new ProblemError('too_many_requests', `This worker was stopped: ${why}`, { retryAfterMs: pauseMs });
  }

  /**
   * The connection of a poll was cut. A process that died does not poll again: it counts as gone when it does not come
   * back soon.
   */
  pollLost(worker: ConnectedWorker): void {
    const before = worker.seenAt;
    setTimeout(() => {
      if (worker.seenAt === before) worker.transport.close(SILENT, 'the poll was cut');
    }, RECONNECT_MS / 2).unref();
  }

  /** Accepts no more calls, and waits for those that run. The rest continues at the next gateway of their workers. */
  async close(): Promise<void> {
    for (const worker of this.workers()) this.apply(worker, worker.session.drain());
    for (const group of this.groups.values()) void group.close();
    await this.host.idle(this.config.drainMs);
    this.calls.handOver();
    await this.host.close();
    for (const ticker of this.tickers) ticker.unsubscribe();
    for (const worker of this.workers()) {
      worker.transport.close(GOING_AWAY, 'this gateway is going away');
      await this.announcer.forget(worker);
    }
    await Promise.allSettled([...this.groups.values()].filter(({ workers }) => workers.size > 0).map(({ id }) => this.announcer.leave(id)));
  }

  get heartbeatMs(): number {
    return Math.max(100, Math.floor(this.config.leaseMs / 3));
  }

  /** Samples for metrics by group, of which several may have the same label. */
  samples(): ForeignWorkersSample[] {
    return [...this.groups.values()].map(({ label, workers }) => ({
      source: label,
      workers: workers.size,
      calls: [...workers].reduce((sum, { session }) => sum + session.callIds().length, 0),
    }));
  }

  private readonly run: RunSourceTool = (source, rawName, args, ctx) =>
    countedCall(this.groups.get(sourceKey(source))?.label ?? 'other', ctx.signal, () => this.calls.run(source, rawName, args, ctx));

  private workers(): ConnectedWorker[] {
    return [...this.groups.values()].flatMap(({ workers }) => [...workers]);
  }

  private groupOf(worker: ConnectedWorker): WorkerGroup {
    const id = idOf(worker);
    let group = this.groups.get(sourceKey(id));
    if (group === undefined) {
      group = new WorkerGroup(id, this.announcer, (queue) => ({
        startConsumer: this.startConsumer,
        store: this.store,
        followUp: this.host.followUp,
        runAttempt: async (job, placement) => {
          this.calls.place(job.callId, placement);
          const ended = (fence: number, written: boolean) => this.calls.ended(job.callId, fence, written);
          const { worker: chosen, pool } = placement;
          await this.host.run({ job, queue, pool, worker: chosen.id, ended, claimToken: claimToken(chosen.claimant) });
          this.calls.unplace(job.callId, placement);
        },
      }));
      this.groups.set(sourceKey(id), group);
    }
    return group;
  }

  private apply(worker: ConnectedWorker, effects: readonly SessionEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'send') worker.transport.send(effect.frame);
      else if (effect.kind === 'call') this.calls.take(effect.frame);
      else if (effect.kind === 'renewed') this.calls.renewed(effect.callId, effect.fence);
      else if (effect.kind === 'unknown') void this.lost.find(worker, effect.callId, effect.fence);
      else if (effect.kind === 'tools') void this.changeTools(worker, effect.frame);
      else if (effect.kind === 'bye') this.leave(worker);
      else this.updateQueues(worker);
    }
  }

  private leave(worker: ConnectedWorker): void {
    this.calls.requeue(worker);
    void this.disconnect(worker);
    worker.transport.close(1000, 'bye');
  }

  private async changeTools(worker: ConnectedWorker, { added, changed, removed }: WorkerFrameOf<'tools'>): Promise<void> {
    try {
      this.assertKeyAllows(worker.principal, worker.source, [...added, ...changed]);
      const tools = new Map(worker.offered().map((tool) => [tool.name, tool]));
      for (const tool of [...added, ...changed]) tools.set(tool.name, tool);
      for (const name of removed) tools.delete(name);
      worker.setTools([...tools.values()]);
      await this.groupOf(worker).announce();
    } catch (error) {
      const problem =
        error instanceof ProblemError ? error : new ProblemError('overloaded', 'The tools could not be stored; send them again');
      worker.transport.send({ op: 'refused', problem: problem.toProblem() });
    }
  }

  private async withdraw(group: WorkerGroup): Promise<void> {
    const key = sourceKey(group.id);
    // Another of its workers withdrew it already; the tools of the source are those of a later group.
    if (this.groups.get(key) !== group) return;
    await group.leave().catch((error: unknown) => this.log.debug({ err: error }, 'the tools of a source could not be withdrawn'));
    if (group.workers.size > 0 || this.groups.get(key) !== group) return;
    // Workers choose the names of their sources, so groups would accumulate. Those that connect from now on get queues of their own.
    this.groups.delete(key);
    await group.close();
  }

  private startTimers(): void {
    if (this.tickers.length > 0) return;
    this.tickers = [
      everyMs(RENEW_MS, () => this.endWithoutKey()),
      everyMs(RENEW_MS, () => this.renewTools()),
      everyMs(this.heartbeatMs, () => this.calls.expire(this.config.leaseMs)),
      everyMs(this.heartbeatMs, () => this.beat()),
    ];
  }

  /** Ends workers with a revoked key after each change, and twice a second since keys expire: workers receive unredacted arguments. */
  private endWithoutKey(): void {
    for (const worker of this.workers()) {
      const problem = keyRefusal(this.apiKeys, worker.principal, worker.source, worker.offered());
      if (problem === undefined) continue;
      worker.transport.send({ op: 'refused', problem: problem.toProblem() });
      this.calls.requeue(worker);
      void this.disconnect(worker);
      worker.transport.close(CLOSE_CODES.unauthenticated, 'the key does not allow this worker any more');
    }
  }

  /** @throws ProblemError */
  private assertKeyAllows(principal: Principal, source: string, tools: readonly WorkerTool[]): void {
    const problem = keyRefusal(this.apiKeys, principal, source, tools);
    if (problem !== undefined) throw problem;
  }

  private async renewTools(): Promise<void> {
    await Promise.allSettled([...this.groups.values()].map((group) => group.renew()));
  }

  private async beat(): Promise<void> {
    const { leaseMs } = this.config;
    for (const worker of this.workers()) {
      if (performance.now() - worker.seenAt > leaseMs) {
        worker.transport.close(SILENT, `nothing was heard for ${leaseMs} ms`);
        await this.disconnect(worker);
      } else worker.transport.send({ op: 'ping' });
      if (await this.announcer.isAskedToDrain(worker)) this.apply(worker, worker.session.drain());
    }
    await Promise.allSettled([...this.groups.values()].map((group) => group.report()));
  }
}

function idOf({ tenantId, source }: ConnectedWorker): SourceId {
  return { tenantId, name: source };
}
