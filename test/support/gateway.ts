import { createHash } from 'node:crypto';
import type { Type } from '@nestjs/common';
import type { EndData, InputRequestedData } from '#contracts';
import { EventLog, isApplied, UpdatesDigest } from '#event-log';
import { createRedis } from '#redis';
import { startGateway, type Gateway } from '../../apps/gateway/src/main.js';
import { readGatewayConfig, type GatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { Agent } from './agent.js';
import { startTestProjector, testDatabase } from './postgres.js';
import { startRedisServer } from './redis-server.mjs';
import { checkAnsweredCalls } from './invariants/answered-calls.js';
import { forgetHistories, historiesOf } from './invariants/client-histories.js';
import { OPEN_POSTURE } from './test-cluster.js';
import { gatewayUrls } from './validated/gateways.js';

export interface TestGateway extends Gateway {
  readonly agent: Agent;
  readonly redisUrl: string;
  /** Acts as a worker: claims the call and ends it with a text. */
  run(callId: string, text?: string, end?: Partial<EndData>): Promise<void>;
  /** Claims the call, at first for its first attempt, and leaves it running. */
  claim(callId: string, attempt?: number): Promise<TestAttempt>;
}

export interface TestAttempt {
  update(text: string): Promise<void>;
  /** Gives the call back to the queue, for the next attempt. */
  retry(): Promise<void>;
  /** Asks for a value. */
  requestInput(question: Pick<InputRequestedData, 'prompt' | 'inputSchema'>): Promise<void>;
  end(text: string, more?: Partial<EndData>): Promise<void>;
}

export const BOOTSTRAP_KEY = 'bootstrap-key-of-the-gateway-tests';

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export interface TestGatewayOptions extends Partial<GatewayConfig> {
  /** True for lists: with a Redis, a database and a projector shared by the gateways of a test file. Default: lists answer 503. */
  readonly lists?: boolean;
}

interface ListBackend {
  readonly redisUrl: string;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

/** Backend of this test file, while a gateway uses it. */
let backend: { readonly started: Promise<ListBackend>; users: number } | undefined;

async function startListBackend(): Promise<ListBackend> {
  const [redis, databaseUrl] = await Promise.all([startRedisServer(), testDatabase()]);
  const projector = await startTestProjector(databaseUrl, redis.url);
  return {
    redisUrl: redis.url,
    databaseUrl,
    close: async () => {
      await projector.close();
      await redis.stop();
    },
  };
}

async function useListBackend(): Promise<ListBackend> {
  const used = (backend ??= { started: startListBackend(), users: 0 });
  used.users += 1;
  const { close, ...urls } = await used.started;
  return {
    ...urls,
    close: async () => {
      used.users -= 1;
      if (used.users > 0) return;
      if (backend === used) backend = undefined;
      await close();
    },
  };
}

/** A gateway in this process on a free port, over the Redis of the test run; `tenant` keeps test files apart, `tools` are of the test's own. */
export async function startTestGateway(
  tenant: string,
  { lists, ...changed }: TestGatewayOptions = {},
  tools: readonly Type[] = [],
): Promise<TestGateway> {
  const env = {
    TOOLYARD_API_KEY: BOOTSTRAP_KEY,
    REDIS_URL: process.env['TEST_REDIS_URL'],
    GATEWAY_PORT: '0',
    LOG_LEVEL: 'silent',
    ...OPEN_POSTURE,
  };
  const base = readGatewayConfig(env);
  const { close: closeBackend, ...urls } = lists === true ? await useListBackend() : { close: () => Promise.resolve() };
  const change = { ...urls, ...changed };
  if (change.sources !== undefined && change.redisUrl === undefined)
    throw new Error('a gateway with sources needs a Redis of its own: each gateway that starts replaces the sources of its Redis');
  const redisUrl = change.redisUrl ?? base.redisUrl;
  const gateway = await startGateway({ ...base, keys: base.keys.map((key) => ({ ...key, tenant })), ...change }, {}, tools);
  gatewayUrls.add(gateway.url);
  forgetHistories(gateway.url);
  const redis = createRedis(redisUrl);
  const log = new EventLog(redis, { partitions: base.partitions });
  const author = { source: '/worker/test', actor: 'worker:test' };

  const claim = async (callId: string, attempt = 1): Promise<TestAttempt> => {
    const claimed = await log.claim({ callId, attempt, leaseMs: 30_000, worker: 'test', author });
    if (!('fence' in claimed) || !isApplied(claimed)) throw new Error(`the claim of ${callId} was refused: ${claimed.code}`);
    let writeSeq = 0;
    const digest = new UpdatesDigest(claimed.updates);
    const guard = () => ({ by: 'worker' as const, fence: claimed.fence, writeSeq: ++writeSeq });
    const content = (text: string) => [{ type: 'text' as const, text }];
    return {
      update: async (text) => {
        const answer = await log.update({
          callId,
          guard: guard(),
          data: { update: writeSeq, content: content(text) },
          updates: digest.add(JSON.stringify(content(text))),
          author,
        });
        if (!isApplied(answer)) throw new Error(`an update of ${callId} was refused: ${answer.code}`);
      },
      retry: async () => {
        const data = { reason: 'worker_drained' as const, nextAttempt: attempt + 1, delayMs: 0 };
        const answer = await log.retry({ callId, guard: guard(), data, countsAsFailure: false, author });
        if (!isApplied(answer)) throw new Error(`the retry of ${callId} was refused: ${answer.code}`);
      },
      requestInput: async (question) => {
        const data = { ...question, nextAttempt: attempt + 1, expiresInMs: 60_000 };
        const answer = await log.requestInput({ callId, guard: guard(), data, author });
        if (!isApplied(answer)) throw new Error(`the question of ${callId} was refused: ${answer.code}`);
      },
      end: async (text, more = {}) => {
        const data: EndData = { outcome: 'completed', result: { content: content(text), isError: false }, attempts: attempt, ...more };
        const answer = await log.end({ callId, guard: guard(), data, author });
        if (!isApplied(answer)) throw new Error(`the end of ${callId} was refused: ${answer.code}`);
      },
    };
  };
  return {
    ...gateway,
    agent: new Agent(gateway.url, BOOTSTRAP_KEY),
    redisUrl,
    claim,
    run: async (callId, text = 'done', end = {}) => (await claim(callId)).end(text, end),
    close: async () => {
      await gateway.close();
      await log.close();
      const { fourEyes = false, tenantRules = {} } = change;
      const histories = historiesOf(gateway.url);
      // A second close has nothing to check.
      forgetHistories(gateway.url);
      const violations =
        redis.status === 'ready'
          ? await checkAnsweredCalls(redis, histories, {
              fourEyes: (tenantId) => tenantRules[tenantId]?.approvals?.fourEyes ?? fourEyes,
            })
          : [];
      redis.disconnect();
      await closeBackend();
      if (violations.length > 0) throw new Error(`violations of the invariants:\n${violations.join('\n')}`);
    },
  };
}
