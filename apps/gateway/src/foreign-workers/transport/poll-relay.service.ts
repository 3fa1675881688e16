import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { ulid } from 'ulidx';
import {
  ProblemError,
  WORKER_LIMITS,
  WorkerStatus,
  Principal,
  WorkerFrame,
  WorkerPollBody,
  WorkerPollPage,
  type ErrorCode,
} from '#contracts';
import { createRedis, keys, listenToChannels, type RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';
import { FAIL_FAST_REDIS, LOGGER } from '../../platform/tokens.js';
import type { BodySize } from '../../platform/http/json-body.js';
import { toProblem } from '../../platform/http/to-problem.js';
import { PollingWorkers, unknownWorker } from './polling-workers.service.js';
import { z } from 'zod';

const id = z.string();
const request = { id, /** The channel for the answer. */ from: z.string(), workerId: z.string(), principal: Principal };

/** Messages between gateways about polling workers. */
const RelayMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('poll'), ...request, body: WorkerPollBody, waitMs: z.number() }),
  z.object({
    kind: z.literal('messages'),
    ...request,
    frames: z.array(WorkerFrame),
    /** Of the worker's request; absent from gateways of earlier releases. */
    size: z.object({ bytes: z.number(), parts: z.number() }).default({ bytes: 0, parts: 0 }),
  }),
  /** The worker no longer waits for the response. */
  z.object({ kind: z.literal('cut'), id }),
  /** The gateway of the worker has received the request. */
  z.object({ kind: z.literal('taken'), id }),
  z.object({ kind: z.literal('answer'), id, page: WorkerPollPage.optional() }),
  z.object({ kind: z.literal('problem'), id, code: z.custom<ErrorCode>((code) => typeof code === 'string'), detail: z.string() }),
]);
type RelayMessage = z.output<typeof RelayMessage>;
type RelayRequest = Extract<RelayMessage, { kind: 'poll' | 'messages' }>;

/** Time in which a live gateway accepts a request; after it the worker must reconnect. */
const TAKEN_MS = 2_000;
/** Time for the response beyond the wait of a poll. */
const ANSWER_MS = 5_000;
const WORKER_ID = /^f-[0-9A-Z]{26}$/;

interface Asked {
  readonly resolve: (page: WorkerPollPage | undefined) => void;
  readonly reject: (problem: ProblemError) => void;
  readonly taken: () => void;
}

type Question =
  | { readonly kind: 'poll'; readonly body: WorkerPollBody; readonly waitMs: number }
  | { readonly kind: 'messages'; readonly frames: WorkerFrame[]; readonly size: BodySize };

/**
 * Forwards requests of polling workers to the gateway with their connection, so that they work through any load balancer. Each
 * gateway listens for its own workers, and for the responses to its requests.
 *
 * A request or response may be lost with a connection to Redis. The worker then repeats it, or reconnects and continues its
 * calls.
 */
@Injectable()
export class PollRelay implements OnApplicationShutdown {
  private readonly own = keys.pollChannel(`g-${ulid()}`);
  private readonly channels = new Set([this.own]);
  private readonly asked = new Map<string, Asked>();
  private readonly polls = new Map<string, AbortController>();
  private subscriber: Promise<RedisConnection> | undefined;

  constructor(
    private readonly workers: PollingWorkers,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'redisUrl'>,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Makes the worker reachable for other gateways. */
  async listenFor(workerId: string): Promise<void> {
    const channel = keys.pollChannel(workerId);
    this.channels.add(channel);
    await (await this.connect()).subscribe(channel);
  }

  /** Stops listening for a disconnected worker. */
  forget(workerId: string): void {
    const channel = keys.pollChannel(workerId);
    this.channels.delete(channel);
    void this.subscriber?.then((subscriber) => subscriber.unsubscribe(channel)).catch(() => {});
  }

  /** @throws ProblemError `resource_not_found` if no gateway has the worker */
  async ask(principal: Principal, workerId: string, question: Question, cut?: AbortSignal): Promise<WorkerPollPage | undefined> {
    if (!(await this.exists(principal, workerId))) throw unknownWorker();
    await this.connect();
    const id = ulid();
    const waitMs = question.kind === 'poll' ? question.waitMs : 0;
    let timer: NodeJS.Timeout | undefined;
    const onCut = () => this.publish(keys.pollChannel(workerId), { kind: 'cut', id });
    cut?.addEventListener('abort', onCut, { once: true });
    try {
      return await new Promise<WorkerPollPage | undefined>((resolve, reject) => {
        timer = setTimeout(() => reject(unknownWorker()), TAKEN_MS);
        const taken = () => {
          clearTimeout(timer);
          timer = setTimeout(
            () => reject(new ProblemError('overloaded', 'The gateway of this worker did not answer; send it again')),
            waitMs + ANSWER_MS,
          );
        };
        this.asked.set(id, { resolve, reject, taken });
        this.publish(keys.pollChannel(workerId), { ...question, id, from: this.own, workerId, principal }, () => reject(unknownWorker()));
      });
    } finally {
      clearTimeout(timer);
      cut?.removeEventListener('abort', onCut);
      this.asked.delete(id);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    (await this.subscriber?.catch(() => undefined))?.disconnect();
  }

  /** True for a registered worker of the tenant. Rejects other ids without a request to other gateways. */
  private async exists({ tenantId }: Principal, workerId: string): Promise<boolean> {
    const text = WORKER_ID.test(workerId) ? await this.redis.get(keys.worker(workerId)) : null;
    return text !== null && WorkerStatus.safeParse(JSON.parse(text)).data?.foreign?.tenantId === tenantId;
  }

  private connect(): Promise<RedisConnection> {
    return (this.subscriber ??= this.open().catch((error: unknown) => {
      this.subscriber = undefined;
      throw error;
    }));
  }

  private async open(): Promise<RedisConnection> {
    const subscriber = createRedis(this.config.redisUrl, { role: 'subscriber', name: 'gateway-polls' });
    await listenToChannels(subscriber, this.channels, { onMessage: (text) => this.receive(text) });
    return subscriber;
  }

  private publish(channel: string, message: RelayMessage, unheard: () => void = () => {}): void {
    this.redis.publish(channel, JSON.stringify(message)).then(
      // Ignores the count in a cluster, where a node knows only its own subscribers.
      (listeners) => listeners === 0 && !this.redis.isCluster && unheard(),
      (error: unknown) => this.log.debug({ err: error }, 'a relayed poll was lost'),
    );
  }

  private receive(text: string): void {
    const message = RelayMessage.safeParse(JSON.parse(text)).data;
    if (message === undefined) return;
    const asked = this.asked.get(message.id);
    switch (message.kind) {
      case 'poll':
      case 'messages':
        return void this.answer(message);
      case 'cut':
        return this.polls.get(message.id)?.abort();
      case 'taken':
        return asked?.taken();
      case 'answer':
        return asked?.resolve(message.page);
      case 'problem':
        return asked?.reject(new ProblemError(message.code, message.detail));
    }
  }

  private async answer(request: RelayRequest): Promise<void> {
    const { id, from } = request;
    this.publish(from, { kind: 'taken', id });
    try {
      const page = await this.handle(request);
      this.publish(from, { kind: 'answer', id, page });
    } catch (error) {
      const { code, detail } = toProblem(error);
      this.publish(from, { kind: 'problem', id, code, detail });
    }
  }

  private async handle(request: RelayRequest): Promise<WorkerPollPage | undefined> {
    const { id, workerId, principal } = request;
    if (request.kind === 'messages') {
      this.workers.messages(principal, workerId, request.frames, request.size);
      return undefined;
    }
    const cut = new AbortController();
    this.polls.set(id, cut);
    try {
      return await this.workers.poll(
        principal,
        workerId,
        request.body,
        Math.min(request.waitMs, WORKER_LIMITS.waitSeconds * 1_000),
        cut.signal,
      );
    } finally {
      this.polls.delete(id);
    }
  }
}
