import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AgentJournal } from '#sub-agents';
import { AgentSourceDefinition, JwtIssuer, ProblemError, type BatchStrategy, type Principal } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { SourceStore } from '#sources';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import type { UnrunCalls } from '../calls/admission/unrun-calls.service.js';
import { readGatewayConfig } from '../platform/gateway.config.js';
import { AgentTurns } from './agent-turns.service.js';

const CALL = '00-01JZ8C5W3Q4X9R7T2M6K8N0P0V';
const ISSUER = 'https://login.test';
/** Request for more than any sub-agent may have. */
const ASKED = { kind: 'open', callId: CALL, turn: 1, after: 0, budget: { depth: 9, tokens: 1, modelMs: 1, calls: 1 } } as const;

describe('what a gateway does for a sub-agent', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let submittedBy: Principal | undefined;
  let refusal: ProblemError | undefined;
  let ofSession: BatchStrategy | undefined;
  let skips: unknown[] = [];

  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
  });
  beforeEach(async () => {
    await redis.flushall();
    submittedBy = refusal = ofSession = undefined;
    skips = [];
    const model = { provider: 'anthropic', name: 'm', url: 'http://models.test' };
    for (const more of [{ name: 'boss' }, { name: 'orderly', strategy: { type: 'sequential' } }]) {
      const definition = AgentSourceDefinition.parse({ kind: 'agent', maxDepth: 3, tools: ['*'], model, ...more });
      await new SourceStore(redis).putDefinition({ tenantId: 'default', definition, origin: 'config' });
    }
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const turns = (actor: string, data: object = {}): AgentTurns => {
    const apiKeys = new ApiKeyStore(readGatewayConfig({ TOOLYARD_API_KEY: 'bootstrap-key-of-the-test' }));
    const rules = { issuer: ISSUER, audience: 'a', jwksUrl: `${ISSUER}/jwks`, tenant: 'default', scopes: ['submit', 'read'] };
    apiKeys.replace([], [JwtIssuer.parse(rules)]);
    const submitted = { actor: `apikey:${actor}`, sessionid: 's', tenantid: 'default', data: { source: 'boss', ...data } };
    const tools = ['echo', 'boss'].map((name) => ({ name, pool: name === 'boss' ? 'agent' : 'io', aliases: [], source: name }));
    const parts = [
      { snapshot: async () => ({ status: 'running', cancelRequested: false, meta: { tenantId: 'default' } }) },
      { submission: async () => submitted },
      apiKeys,
      { callable: async () => tools },
      {
        submit: async (principal: Principal) => {
          submittedBy = principal;
          if (refusal !== undefined) throw refusal;
          return { call: { id: 'child' } };
        },
      },
      { for: () => ({ resolve: (name: string) => tools.find((tool) => tool.name === name) }) },
      {
        record: async (...[, { toolCallId }, { outcome }, { idempotencyKey }]: Parameters<UnrunCalls['record']>) => {
          skips.push([toolCallId, outcome, idempotencyKey]);
          return `skipped-${toolCallId}`;
        },
      },
      { state: async () => (ofSession === undefined ? {} : { strategy: ofSession }) },
      { of: () => ({ policy: { execution: { strategy: { type: 'tiered' } } } }) },
      redis,
    ] as unknown as ConstructorParameters<typeof AgentTurns>;
    return new AgentTurns(...parts);
  };
  const token = { submitter: { scopes: ['submit', 'admin'] } };
  const keepTurn = (...ids: readonly string[]) =>
    new AgentJournal(redis).keepTurn(CALL, {
      turn: 1,
      model: 'm',
      requestSha256: '',
      text: '',
      toolCalls: ['a', ...ids].map((toolCallId) => ({ toolCallId, tool: 'echo', arguments: '{}' })),
      leftOut: 0,
      usage: { inputTokens: 0, outputTokens: 0 },
      tookMs: 0,
      steering: 0,
    });

  it('submits a call of a sub-agent with the rights of its token, as far as the issuer may still grant them', async () => {
    await keepTurn();
    expect(await turns(`${ISSUER}#ann`, token).submit({ ...ASKED, kind: 'submit' })).toMatchObject({ calls: [{ callId: 'child' }] });
    expect(submittedBy).toMatchObject({ keyId: `${ISSUER}#ann`, scopes: ['submit'] });
    await expect(turns('https://gone.test#ann', token).open(ASKED)).rejects.toThrow('issuer of the token was changed or removed');
  });

  it('offers sub-agents only down to the depth that the log has, whatever a worker requests', async () => {
    const names = async (data: object) => turns(`${ISSUER}#ann`, { ...token, ...data }).open(ASKED);
    expect(await names({})).toMatchObject({ tools: ['echo', 'boss'] });
    expect(await names({ agentsAbove: 1, agentBudget: { depth: 1 } })).toMatchObject({ tools: ['echo'] });
    expect(await names({ agentsAbove: 1 })).toMatchObject({ tools: ['echo'] });
  });

  it('records the rejection of the parent as the error of the call when the parent may make no more calls', async () => {
    await keepTurn();
    refusal = new ProblemError('conflict', 'The parent call is being cancelled', { callId: CALL });
    expect(await turns(`${ISSUER}#ann`, token).submit({ ...ASKED, kind: 'submit' })).toEqual({
      kind: 'submitted',
      calls: [{ toolCallId: 'a', isAgent: false, error: 'The parent call is being cancelled' }],
    });
  });

  it('submits the groups of a strategy in order, and answers a late repetition with the same calls', async () => {
    await keepTurn('b');
    const next = (after: number) => turns(`${ISSUER}#ann`, { ...token, source: 'orderly' }).submit({ ...ASKED, kind: 'submit', after });
    const answers = [await next(0), await next(0), await next(1), await next(0)];
    expect(answers.map((it) => (it.kind === 'submitted' ? it.calls.map(({ toolCallId }) => toolCallId) : it))).toEqual([
      ['a'],
      ['a'],
      ['b'],
      ['a'],
    ]);
    expect((await new AgentJournal(redis).load(CALL)).submitted.get(1)).toHaveLength(2);
  });

  it('skips the remaining groups after a message of a person, which the next turn reads once', async () => {
    await keepTurn('b', 'c');
    const agent = turns(`${ISSUER}#ann`, { ...token, source: 'orderly' });
    await agent.submit({ ...ASKED, kind: 'submit' });
    await redis.rpush(keys.steering('00', 'default', 's'), JSON.stringify({ message: 'Stop there' }));
    // Simulates a worker that dies before the answer, and a lost write of the journal.
    await agent.submit({ ...ASKED, kind: 'submit', after: 1 });
    await redis.hdel(keys.agentJournal(CALL), 'calls.1.1');
    const error = 'Skipped due to queued user message.';
    const skipped = (toolCallId: string) => ({ toolCallId, isAgent: false, callId: `skipped-${toolCallId}`, error });
    const answer = await agent.submit({ ...ASKED, kind: 'submit', after: 1 });
    expect(answer).toEqual({ kind: 'submitted', calls: [skipped('b'), skipped('c')] });
    // Each call is one submission, however often it is requested.
    expect(new Set(skips.map((it) => JSON.stringify(it)))).toEqual(
      new Set(['b', 'c'].map((id) => JSON.stringify([id, 'cancelled', `turn ${CALL} 1 ${id}`]))),
    );
    await agent.open({ ...ASKED, turn: 2 });
    expect((await new AgentJournal(redis).load(CALL)).steering.get(2)).toEqual(['Stop there']);
  });

  it.each([
    ['that of the policy profile', undefined, [['a'], ['b']]],
    ['that of the session', { type: 'parallel', serializeSideEffects: false } as const, [['a', 'b']]],
  ])('runs the calls of a definition without a strategy by %s', async (_whose, strategy, groups) => {
    ofSession = strategy;
    await keepTurn('b');
    const answers: string[][] = [];
    for (let after = 0; after < 2; after = answers.flat().length) {
      const answer = await turns(`${ISSUER}#ann`, token).submit({ ...ASKED, kind: 'submit', after });
      answers.push(answer.kind === 'submitted' ? answer.calls.map(({ toolCallId }) => toolCallId) : []);
    }
    expect(answers).toEqual(groups);
  });

  it('stores messages of people no longer than the journal', async () => {
    await redis.rpush(keys.steering('00', 'default', 's'), JSON.stringify({ message: 'Stop there' }));
    await turns(`${ISSUER}#ann`, token).open(ASKED);
    expect((await new AgentJournal(redis).load(CALL)).steering.get(1)).toEqual(['Stop there']);
    expect(await redis.ttl(keys.agentJournal(CALL))).toBeGreaterThan(0);
  });
});
