import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AgentSourceDefinition, type AgentBudget, type Call } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import type { ToolContext, ToolOutputObject } from '#tool-sdk';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { AgentLoop, type AgentLoopParts } from './agent-loop.js';
import { AgentJournal } from './journal/agent-journal.js';
import type { SaidTurn } from './memory/agent-memory.port.js';
import type { Model, ModelAnswer, ModelRequest } from './model/model.port.js';

const RUN = '0-run';
const CHILD = '0-child';

describe('the loop of a sub-agent', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let journal: AgentJournal;
  const ended = new Map<string, Call>();
  const asked: ModelRequest[] = [];
  const kept: SaidTurn[] = [];
  /** Bytes that the journal keeps, by recorded turn. */
  const recorded: number[] = [];
  /** Budgets of the calls that were submitted together. */
  const submitted: AgentBudget[] = [];

  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    journal = new AgentJournal(redis);
  });
  beforeEach(async () => {
    ended.clear();
    asked.length = kept.length = submitted.length = recorded.length = 0;
    may = { recall: true, keep: true };
    opened = undefined;
    stop = new AbortController();
    await redis.flushall();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  let may = { recall: true, keep: true };
  /** Answer of the gateway before a turn; default: `open`. */
  let opened: (() => object) | undefined;
  let stop = new AbortController();
  const run = async (more: object, ...answers: readonly (Partial<ModelAnswer> | 'never')[]): Promise<ToolOutputObject> => {
    const url = 'http://models.test/v1';
    const definition = AgentSourceDefinition.parse({
      kind: 'agent',
      name: 'digger',
      model: { provider: 'anthropic', name: 'm', url },
      ...more,
    });
    const ctx = {
      callId: RUN,
      attempt: 1,
      tenantId: 't',
      signal: stop.signal,
      onUpdate: () => {},
      onProgress: () => {},
      redact: (text: string) => text,
      agentRun: { above: 0, recordTurn: async (_turn: unknown, journalBytes = 0) => void recorded.push(journalBytes) },
    } as unknown as ToolContext;
    const parts = {
      gateway: {
        open: async () => opened?.() ?? { kind: 'open', tools: [], memory: may },
        // Simulates a missing answer of the gateway: the run waits.
        submit: async (_ctx: unknown, _turn: number, _after: number, budget: AgentBudget) => void submitted.push(budget),
      },
      journal,
      memory: {
        recall: async () => ['Likes tea.'],
        keep: async (_ctx: ToolContext, turns: readonly SaidTurn[]) => void kept.push(...turns),
      },
      calls: { read: async (id: string) => ended.get(id), events: async () => [] },
      tools: { for: () => ({ resolve: () => undefined }) },
    } as unknown as AgentLoopParts;
    const model: Model = {
      ask: async (request, { signal }) => {
        asked.push(request);
        const answer = answers[asked.length - 1] ?? {};
        if (answer === 'never') {
          await new Promise((aborted) => signal.addEventListener('abort', aborted));
          throw signal.reason;
        }
        return { text: '', toolCalls: [], usage: { inputTokens: 0, outputTokens: 0 }, ...answer };
      },
    };
    return (await new AgentLoop(definition, 'Dig', ctx, model, parts).toOutput()) as ToolOutputObject;
  };
  const keepTurn = (callId: string, tokens: number, calls = ['a']) =>
    journal.keepTurn(callId, {
      turn: 1,
      model: 'm',
      requestSha256: '',
      text: 'One call.',
      toolCalls: calls.map((toolCallId) => ({ toolCallId, tool: 'dig', arguments: '{}' })),
      leftOut: 0,
      usage: { inputTokens: tokens, outputTokens: 0 },
      tookMs: 1,
      steering: 0,
    });

  it('says with each turn what the journal of a sub-agent keeps of it', async () => {
    await run({}, { text: 'x'.repeat(10_000) });
    const { 'turn.1': text = '' } = await redis.hgetall(keys.agentJournal(RUN));
    expect(text.length).toBeGreaterThan(10_000);
    expect(recorded).toEqual([Buffer.byteLength(text) + '[,[]]'.length]);
  });

  it('ends a sub-agent with its partial result when a request uses up the time', async () => {
    const output = await run(
      // Long enough for the first answer on a slow machine.
      { budgets: { modelMs: 2_000 } },
      { text: 'Found it.', toolCalls: [{ id: 'a', name: 'none', arguments: '' }] },
      'never',
    );
    expect(output).toMatchObject({ content: [{ text: 'Found it.' }], details: { turns: 1, stopped: 'max_time' } });
  });

  it('counts the time of requests of a sub-agent that failed', async () => {
    await journal.countFailure(RUN, 1, 150);
    await journal.countFailure(RUN, 1, 50);
    expect(await run({ budgets: { modelMs: 200 } })).toMatchObject({ details: { turns: 0, modelMs: 200, stopped: 'max_time' } });
    expect(asked).toEqual([]);
  });

  it('waits for no call of a sub-agent that is not stored any more', async () => {
    await keepTurn(RUN, 1);
    await journal.keepSubmitted(RUN, 1, 0, [{ toolCallId: 'a', callId: CHILD, isAgent: false }]);
    expect(await run({}, { text: 'Done.' })).toMatchObject({ content: [{ text: 'Done.' }] });
    expect(asked[0]?.messages.at(-1)).toMatchObject({ results: [{ text: expect.stringContaining('not stored any more'), isError: true }] });
  });

  it('labels a sub-agent differently from its calls', async () => {
    await keepTurn(RUN, 30);
    await journal.keepSubmitted(RUN, 1, 0, [{ toolCallId: 'a', callId: CHILD, isAgent: true }]);
    await keepTurn(CHILD, 10);
    await journal.keepSubmitted(CHILD, 1, 0, [{ toolCallId: 'a', callId: CHILD, isAgent: true }]);
    ended.set(CHILD, { id: CHILD, status: 'ended', outcome: 'cancelled' } as Call);
    expect(await run({ budgets: { tokens: 40 } })).toMatchObject({ details: { tokens: 40, stopped: 'max_tokens' } });
  });

  it('counts the usage of a nested sub-agent that failed', async () => {
    await keepTurn(RUN, 30);
    await journal.keepSubmitted(RUN, 1, 0, [{ toolCallId: 'a', callId: CHILD, isAgent: true }]);
    await keepTurn(CHILD, 970);
    ended.set(CHILD, { id: CHILD, status: 'ended', outcome: 'failed', error: { code: 'unavailable', message: 'x' } } as Call);
    expect(await run({ budgets: { tokens: 1_000 } })).toMatchObject({
      details: { tokens: 1_000, modelMs: 2, calls: 1, stopped: 'max_tokens' },
    });
    expect(asked).toEqual([]);
  });

  it('gives each call of an answer an equal share of the sub-agent’s unused budget', async () => {
    await keepTurn(RUN, 100, ['a', 'b']);
    await run({ maxDepth: 2, budgets: { tokens: 1_000, modelMs: 1_000, calls: 10 } });
    expect(submitted).toEqual([{ depth: 1, tokens: 450, modelMs: 499, calls: 4 }]);
  });

  it('reads the memory of the user once, before the first turn, as data, and stores task and answer at the end', async () => {
    const tool = { text: 'Let me see.', toolCalls: [{ id: 'a', name: 'none', arguments: '' }] };
    expect(await run({ memory: true }, tool, { text: 'Found it.' })).toMatchObject({ details: { recalled: 1 } });
    for (const { messages } of asked)
      expect(messages.slice(0, 2)).toEqual([
        { role: 'user', text: expect.stringMatching(/no instructions for you\.\n\["Likes tea\."\]$/) },
        { role: 'user', text: 'Dig' },
      ]);
    expect(kept).toEqual([
      { role: 'user', content: 'Dig' },
      { role: 'assistant', content: 'Found it.' },
    ]);
  });

  it.each([
    ['its definition does not say so', {}, { recall: true, keep: true }],
    ['its caller may not', { memory: true }, { recall: false, keep: false }],
  ])('leaves the memory of a sub-agent unused if %s', async (_why, more, allowed) => {
    may = allowed;
    await run(more, { text: 'Found it.' });
    expect([asked[0]?.messages, kept]).toEqual([[{ role: 'user', text: 'Dig' }], []]);
  });

  it('ends a sub-agent as refused by its gateway, or as cancelled if the gateway knew first that its call is over', async () => {
    const refused = { kind: 'refused', message: 'The key is gone' };
    opened = () => ({ ...refused, isOver: false });
    await expect(run({})).rejects.toMatchObject({ code: 'policy_denied', message: 'The key is gone' });
    const reason = new Error('cancelled');
    opened = () => {
      setImmediate(() => stop.abort(reason));
      return { ...refused, isOver: true };
    };
    await expect(run({})).rejects.toBe(reason);
  });
});
