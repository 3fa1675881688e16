import { Queue, QueueEvents, Worker } from 'bullmq';
import { z } from 'zod';
import { Json } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { producerBackend, workerBackend } from './bull-connection.js';
import { IDLE_POLL_S } from './bull-settings.js';

/** Part of stored keys and of names of connections. */
const QUEUE = 'agents';
const CONCURRENCY = 32;
const LOCK_MS = 15_000;
const RETRY_MS = 500;
const LOOK_MS = 1_000;
/** Practically unlimited: the handler decides whether a request is too late. */
const TRIES = 1_000_000;
/** Lifetime of an answer, for a worker that repeats its request. */
const KEPT_SECONDS = 600;

/** Request of a sub-agent to a gateway. Contains ids only: the details are in the journal of the sub-agent. */
const AgentTurnRequest = z.object({
  kind: z.enum(['open', 'submit']),
  callId: z.string(),
  turn: z.number().int(),
  /** Number of calls of the turn that `submit` has submitted before. The others follow when these have ended. */
  after: z.number().int().default(0),
  /** Limits of each of its own sub-agents. */
  budget: z.object({ depth: z.number().int(), tokens: z.number().int(), modelMs: z.number().int(), calls: z.number().int() }),
});
export type AgentTurnRequest = z.output<typeof AgentTurnRequest>;

/** Request of a tool that only gateways can run: on sessions, schedules and other calls. */
const ToolRequest = z.object({ kind: z.literal('tool'), callId: z.string(), args: z.record(z.string(), Json) });
export type ToolRequest = z.output<typeof ToolRequest>;

const GatewayRequest = z.discriminatedUnion('kind', [AgentTurnRequest, ToolRequest]);
export type GatewayRequest = z.output<typeof GatewayRequest>;

/** Sends requests to gateways. Equal concurrent requests are sent once. Connects on the first request. */
export class GatewayRequests {
  private opened: Connections | undefined;

  constructor(private readonly redisUrl: string) {}

  /** Resolves with the answer, or undefined if no gateway answered in time. A new `attempt` sends the request again. */
  async ask(request: GatewayRequest, attempt: number, timeoutMs: number): Promise<string | undefined> {
    const { queue, events } = (this.opened ??= connect(this.redisUrl));
    const job = await queue.add(request.kind, request, {
      jobId: [request.kind, request.callId, ...(request.kind === 'tool' ? [] : [request.turn, request.after]), attempt].join('.'),
      attempts: TRIES,
      backoff: { type: 'fixed', delay: RETRY_MS },
      removeOnComplete: { age: KEPT_SECONDS },
      removeOnFail: true,
    });
    // Checks the job repeatedly: an event before the first read of the stream is not delivered.
    for (let leftMs = timeoutMs; leftMs > 0; leftMs -= LOOK_MS) {
      const answer = await job.waitUntilFinished(events, Math.min(LOOK_MS, leftMs)).catch(() => undefined);
      if (answer === undefined) continue;
      // The arguments may contain secrets.
      if (request.kind === 'tool') await job.remove().catch(() => {});
      return answer;
    }
    return undefined;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    await opened?.events.close();
    await opened?.queue.close();
    opened?.client.disconnect();
  }
}

interface Connections {
  readonly client: RedisConnection;
  readonly queue: Queue<GatewayRequest, string>;
  readonly events: QueueEvents;
}

function connect(redisUrl: string): Connections {
  const prefix = keys.queuePrefix(QUEUE);
  const client = createRedis(redisUrl, { role: 'command', name: 'agents' });
  const settings = { connection: {}, streams: { events: { maxLen: 10_000 } } };
  const queue = new Queue<GatewayRequest, string>(keys.gatewayRequestQueueName(), settings, producerBackend(client, 'stock', prefix));
  queue.on('error', () => {});
  const clients = {
    // QueueEvents reads its stream on the first of both, for ten seconds at a time.
    command: createRedis(redisUrl, { role: 'blocking', name: 'agents-events' }),
    blocking: createRedis(redisUrl, { role: 'blocking', name: 'agents-wait' }),
    commandIsShared: false,
  };
  const events = new QueueEvents(keys.gatewayRequestQueueName(), { connection: {} }, workerBackend(clients, prefix, undefined));
  events.on('error', () => {});
  return { client, queue, events };
}

/** Handles requests of workers. A request whose process died is handled again by any process. */
export class GatewayRequestConsumer {
  private worker: Worker<GatewayRequest, string> | undefined;

  constructor(
    private readonly redisUrl: string,
    private readonly onError: (error: Error) => void,
  ) {}

  /** Starts handling. A handler that rejects is called again, and must expect the same request more than once. */
  start(handle: (request: GatewayRequest) => Promise<string>): void {
    const clients = {
      command: createRedis(this.redisUrl, { role: 'command', name: 'agents-worker' }),
      blocking: createRedis(this.redisUrl, { role: 'blocking', name: 'agents-worker-wait' }),
      commandIsShared: false,
    };
    this.worker = new Worker(
      keys.gatewayRequestQueueName(),
      async (job) => handle(GatewayRequest.parse(job.data)),
      {
        concurrency: CONCURRENCY,
        drainDelay: IDLE_POLL_S,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS / 2,
        maxStalledCount: TRIES,
        connection: {},
      },
      workerBackend(clients, keys.queuePrefix(QUEUE), undefined),
    );
    this.worker.on('error', () => {});
    this.worker.on('failed', (_job, error) => this.onError(error));
  }

  /** Waits for the requests that are being handled. Idempotent. */
  async close(): Promise<void> {
    await this.worker?.close();
  }
}
