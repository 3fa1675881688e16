import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import {
  type AttemptDependencies,
  ForcedShutdown,
  InFlightAttempts,
  LeaseRenewer,
  RedactionSettingsService,
  RenewalLoop,
  systemClock,
} from '#attempts';
import type { CallEvent, CallEventType, SubmittedData, ToolDescriptor } from '#contracts';
import { BlobStore, CallStore, EventLog, type WokenCall } from '#event-log';
import { HookRunner, HookSnapshotStore } from '#hooks';
import { createRedis, ContentAddressedStore, type RedisConnection } from '#redis';
import { EgressPolicy } from '#sandbox';
import {
  type ToolContext,
  type ToolFacts,
  type ToolOutput,
  type ToolRegistry,
  type ToolSource,
  type ToolView,
  describeTool,
} from '#tool-sdk';
import { Workspaces } from '../../apps/worker/src/attempts/workspaces.js';
import { aSubmission } from './sample-calls.js';
import { startRedisServer, type RedisServer } from './redis-server.mjs';

const PARTITIONS = 4;
const AUTHOR = { source: '/gateway/test', actor: 'apikey:test' };

export type TestTool = Partial<ToolFacts> & {
  run(args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> | ToolOutput;
};

/** The parts of a worker over a Redis of its own, without BullMQ: calls are put into the log and executed by name of the attempt. */
export class WorkerParts {
  readonly forcedShutdown = new ForcedShutdown();
  readonly tools = new Map<string, { tool: ToolDescriptor; run: TestTool['run'] }>();
  private readonly closers: (() => unknown)[] = [];

  private constructor(
    readonly server: RedisServer,
    readonly redis: RedisConnection,
    readonly log: EventLog,
    readonly store: CallStore,
    readonly blobs: BlobStore,
    readonly workspaceRoot: string,
    /** Calls that transitions of this log have made due, oldest first. */
    readonly woken: readonly WokenCall[],
  ) {}

  /** `tenantCallBytes` as of `EventLogOptions`. */
  static async start(options: { readonly tenantCallBytes?: number } = {}): Promise<WorkerParts> {
    const server = await startRedisServer();
    const redis = createRedis(server.url, { name: 'worker-parts' });
    const woken: WokenCall[] = [];
    const log = await EventLog.open(redis, { partitions: PARTITIONS, onWoken: (call) => woken.push(call), ...options });
    const root = mkdtempSync(join(tmpdir(), 'toolyard-worker-'));
    return new WorkerParts(server, redis, log, new CallStore(redis), new BlobStore(redis), root, woken);
  }

  get partitions(): number {
    return PARTITIONS;
  }

  tool(name: string, { run, ...facts }: TestTool): void {
    this.tools.set(name, {
      run,
      tool: describeTool({
        name,
        description: `For tests: ${name}.`,
        source: 'builtin',
        input: { type: 'object' },
        effect: 'pure',
        ...facts,
      }),
    });
  }

  /** Dependencies of `executeAttempt`, with a renewal loop in this thread. */
  worker(options: { id?: string; leaseMs?: number; stopGraceMs?: number; toolEnv?: Record<string, string> } = {}): AttemptDependencies {
    const { id = 'w1', leaseMs = 30_000, stopGraceMs = 300, toolEnv = {} } = options;
    const leases = new LeaseRenewer(
      32,
      (table, notify) => {
        const loop = new RenewalLoop(this.log, table, leaseMs, notify);
        return { close: async () => loop.close() };
      },
      () => {},
    );
    this.closers.push(() => leases.close());
    return {
      config: { id, leaseMs, stopGraceMs, inputMs: 60_000, maxAttempts: 20, maxBackoffMs: 600_000, toolEnv },
      log: this.log,
      blobs: this.blobs,
      redaction: new RedactionSettingsService(new ContentAddressedStore(this.redis), []),
      tools: this.registry(),
      hookSnapshots: new HookSnapshotStore(this.redis),
      hooks: this.hookRunner(),
      leases,
      inFlight: new InFlightAttempts(),
      workspaces: new Workspaces(this.workspaceRoot),
      files: { of: async (workspace) => workspace },
      egress: { of: async () => undefined },
      memory: { level: 'normal' },
      forcedShutdown: this.forcedShutdown,
      clock: systemClock,
      random: () => 0,
      logger: pino({ level: 'silent' }),
    };
  }

  /** Puts a call into the log, queued; returns its id. */
  async submit(
    tool: string,
    args: SubmittedData['arguments'] = {},
    more: Partial<SubmittedData> & { sessionId?: string } = {},
  ): Promise<string> {
    const { sessionId, ...data } = more;
    const facts = this.tools.get(tool)?.tool;
    const { parentCallId } = data;
    const callId = parentCallId === undefined ? this.log.newCallId('test', sessionId) : this.log.newCallIdBeside(parentCallId);
    const submitted = aSubmission({
      tool,
      arguments: args,
      source: 'test',
      toolVersion: facts?.version ?? '0',
      tier: facts?.tier ?? 'read_only',
      effect: facts?.effect ?? 'pure',
      timeouts: { queueMs: 60_000, runMs: 10_000, totalMs: 120_000 },
      retry: { maxAttempts: 3, backoffMs: 10, maxBackoffMs: 100 },
      ...data,
    });
    const answer = await this.log.accept({
      callId,
      meta: { tenantId: 'test', tool, ...(sessionId === undefined ? {} : { sessionId }), ...(parentCallId && { parentCallId }) },
      submitted,
      author: AUTHOR,
    });
    if (answer.code !== 'OK') throw new Error(`the test's call was not accepted: ${answer.code}`);
    return callId;
  }

  async cancel(callId: string, graceMs: number): Promise<void> {
    const head = await this.store.snapshot(callId);
    const answer = await this.log.requestCancel({
      callId,
      guard: { by: 'command', version: head?.version ?? 0, commandId: `cancel-${callId}` },
      data: { graceMs },
      author: AUTHOR,
    });
    if (answer.code !== 'OK') throw new Error(`the test's cancel was refused: ${answer.code}`);
  }

  async events(callId: string): Promise<CallEvent[]> {
    return (await this.store.events(callId)).map(({ json }) => JSON.parse(json) as CallEvent);
  }

  async types(callId: string): Promise<CallEventType[]> {
    return (await this.events(callId)).map(({ type }) => type);
  }

  async close(): Promise<void> {
    this.forcedShutdown.trigger();
    for (const close of this.closers) await close();
    await this.log.close();
    this.redis.disconnect();
    await this.server.stop();
    rmSync(this.workspaceRoot, { recursive: true, force: true });
  }

  private hookRunner(): HookRunner {
    const base = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
    const runner = new HookRunner({ redis: this.redis, base, env: {}, sessionEgress: new EgressPolicy(), log: () => {} });
    this.closers.push(() => runner.close());
    return runner;
  }

  private registry(): Pick<ToolRegistry, 'for' | 'refresh'> {
    const source: ToolSource = {
      name: 'test',
      list: () => [...this.tools.values()].map(({ tool }) => tool),
      call: async (name, args, ctx) => this.tools.get(name)?.run(args, ctx) ?? '',
      onChange: () => () => {},
      close: async () => {},
    };
    const view = {
      names: () => this.tools.keys(),
      resolve: (name: string) => this.tools.get(name)?.tool,
      suggest: () => [...this.tools.keys()].slice(0, 1),
      list: () => source.list(),
      source: () => source,
      checkOutput: (name: string, value: unknown) =>
        this.tools.get(name)?.tool.output && typeof value !== 'object' ? [{ pointer: '', message: 'expected an object' }] : [],
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an attempt checks no arguments: the rest of a view is here
    return { for: () => view as unknown as ToolView, refresh: async () => {} };
  }
}

/** The reason of an abort, as the error that it is. */
export function stopReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted without a reason');
}
