import { resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SourceDefinition, type ProgressData } from '#contracts';
import { Suspension, ToolError, type Resumed, type ToolContext, type ToolOutput } from '#tool-sdk';
import { modernTasks, olderTasks, type TaskServer } from '../../../../../test/support/task-servers.js';
import type { SourceConnection } from '../../source-connector.port.js';
import { mcpConnector } from '../../testing/mcp-connector.js';

const FIXTURE = resolve('test/support/task-mcp-server.fixture.mjs');
const BRANCH = { branch: 'next' };

/** Plays a worker that resumes a suspended call immediately. */
describe('tasks of MCP servers', () => {
  const opened: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  });

  const connect = async (where: { url: string } | { command: string[] }, isOver = async () => false): Promise<SourceConnection> => {
    const host = 'url' in where ? new URL(where.url).host : '';
    const definition = SourceDefinition.parse({ name: 'x', kind: 'mcp', ...('url' in where ? { url: where.url } : where) });
    const connector = mcpConnector([host], { isOver, folder: tmpdir() });
    const connection = await connector.open({ tenantId: 't', origin: 'api', definition }, AbortSignal.timeout(30_000));
    opened.push(connection);
    return connection;
  };
  const server = async (start: () => Promise<TaskServer>) => {
    const one = await start();
    opened.push(one);
    return one;
  };
  const context = (resumed?: Resumed, signal = new AbortController().signal) => {
    const progress: ProgressData[] = [];
    const ctx = {
      callId: 'c1',
      signal,
      deadline: Date.now() + 60_000,
      sinceFirstStartMs: 0,
      resumed,
      onProgress: (it: ProgressData) => progress.push(it),
    };
    return { progress, ctx: ctx as unknown as ToolContext };
  };
  /** Follows the call to the result or the first question, each attempt on the next of these connections. */
  const follow = async (tool: string, at: readonly SourceConnection[], first?: Resumed): Promise<ToolOutput> => {
    let resumed = first;
    for (let turn = 0; ; turn++) {
      const connection = at[turn % at.length] as SourceConnection;
      const output = await connection.call(tool, {}, context(resumed).ctx);
      if (!(output instanceof Suspension) || output.options.until === 'input') return output;
      resumed = { reason: 'timer', state: output.options.state ?? null };
    }
  };
  const kept = (output: ToolOutput) => {
    if (!(output instanceof Suspension)) throw new Error(`expected a suspension; got ${JSON.stringify(output)}`);
    return { ...output.options, state: output.options.state ?? null };
  };

  describe.each([
    ['2026-07-28', modernTasks],
    ['2025-11-25', () => olderTasks({ sessions: true })],
  ] as const)('of revision %s over HTTP', (_revision, start) => {
    it('begins an MCP task once, and continues it in any worker', async () => {
      const tasks = await server(start);
      const [one, other] = [await connect(tasks), await connect(tasks)];
      const begun = kept(await one.call('held', {}, context().ctx));
      expect(begun.state).toMatchObject({ kind: 'mcp.task', taskId: expect.any(String) });
      tasks.release();
      const output = await follow('held', [other, one], { reason: 'timer', state: begun.state });
      expect(output).toMatchObject({ content: [{ type: 'text', text: 'held' }] });
      expect(tasks.begun()).toBe(1);
    });

    it('passes questions of MCP tasks to a person, and returns the answer', async () => {
      const tasks = await server(start);
      const connection = await connect(tasks);
      const asked = kept(await follow('ask', [connection]));
      expect(asked).toMatchObject({ until: 'input', prompt: 'The MCP server x asks: Which branch?' });
      const output = await follow('ask', [connection], { reason: 'input', state: asked.state, input: BRANCH });
      expect(JSON.stringify(output)).toContain(String.raw`{\"action\":\"accept\",\"content\":{\"branch\":\"next\"}}`);
      expect(tasks.begun()).toBe(1);
    });

    it('ends failed MCP tasks as failed calls, and cancels them with their call', async () => {
      const tasks = await server(start);
      const connection = await connect(tasks);
      const failing = follow('fails', [connection]);
      if (start === modernTasks) await expect(failing).rejects.toThrow('no sources');
      else expect(await failing).toMatchObject({ isError: true, content: [{ text: 'no sources' }] });
      const begun = kept(await connection.call('held', {}, context().ctx));
      const stop = new AbortController();
      const { ctx } = context({ reason: 'timer', state: begun.state }, stop.signal);
      const running = start === modernTasks ? undefined : connection.call('held', {}, ctx);
      stop.abort(new ToolError('cancelled', 'Cancelled'));
      await expect(running ?? connection.call('held', {}, ctx)).rejects.toThrow('Cancelled');
      await tasks.cancelled;
    });
  });

  it('cancels MCP tasks of a suspended call when the call is over', async () => {
    const tasks = await server(modernTasks);
    const connection = await connect(tasks, async () => true);
    kept(await connection.call('held', {}, context().ctx));
    await tasks.cancelled;
  });

  it('reports the status of an MCP task as progress', async () => {
    const tasks = await server(modernTasks);
    const connection = await connect(tasks);
    const { state } = kept(await connection.call('held', {}, context().ctx));
    const { ctx, progress } = context({ reason: 'timer', state });
    expect(kept(await connection.call('held', {}, ctx))).toMatchObject({ resumeInMs: 200, state: { kind: 'mcp.task' } });
    expect(progress).toEqual([{ message: 'reading sources' }]);
  });

  it('follows MCP tasks of a program by the worker that runs it', async () => {
    const connection = await connect({ command: [process.execPath, FIXTURE] });
    expect(await connection.call('held', {}, context().ctx)).toMatchObject({ content: [{ text: 'held' }] });
    const asked = kept(await connection.call('ask', {}, context().ctx));
    const output = await connection.call('ask', {}, context({ reason: 'input', state: asked.state, input: BRANCH }).ctx);
    expect(JSON.stringify(output)).toContain('next');
    const lost = { kind: 'mcp.task', taskId: 'of-another', connection: 'x', tries: 0, misses: 0, answered: [] };
    await expect(connection.call('held', {}, context({ reason: 'timer', state: lost }).ctx)).rejects.toThrow('is gone');
  });

  it('follows MCP tasks of revision 2025-11-25 in another worker if the server shares them', async () => {
    const tasks = await server(olderTasks);
    const [one, other] = [await connect(tasks), await connect(tasks)];
    const { state } = kept(await one.call('held', {}, context().ctx));
    tasks.release();
    expect(await other.call('held', {}, context({ reason: 'timer', state }).ctx)).toMatchObject({ content: [{ text: 'held' }] });
  });

  it('returns MCP tasks to their worker when the server separates those of sessions', async () => {
    const tasks = await server(() => olderTasks({ sessions: true }));
    const [one, other] = [await connect(tasks), await connect(tasks)];
    const { state } = kept(await one.call('held', {}, context().ctx));
    tasks.release();
    const passed = kept(await other.call('held', {}, context({ reason: 'timer', state }).ctx));
    expect(passed.state).toMatchObject({ tries: 1 });
    expect(await follow('held', [one], { reason: 'timer', state: passed.state })).toMatchObject({ content: [{ text: 'held' }] });
  });

  it('fails MCP tasks of revision 2025-11-25 at once that failed at another worker', async () => {
    const tasks = await server(() => olderTasks({ fails: { method: 'tasks/result', message: 'no disk' } }));
    const [one, other] = [await connect(tasks), await connect(tasks)];
    const { state } = kept(await one.call('fails', {}, context().ctx));
    await expect(other.call('fails', {}, context({ reason: 'timer', state }).ctx)).rejects.toThrow('no disk');
  });

  it('begins an MCP task by a call that waits for the same tool list as a cancelled one', async () => {
    let list = () => {};
    const until = new Promise<void>((resolve) => (list = resolve));
    const tasks = await server(() => olderTasks({ holds: { method: 'tools/list', until } }));
    const connection = await connect(tasks);
    const stop = new AbortController();
    const cancelled = connection.call('held', {}, context(undefined, stop.signal).ctx);
    const other = connection.call('held', {}, context().ctx);
    stop.abort(new ToolError('cancelled', 'Cancelled'));
    await expect(cancelled).rejects.toThrow('Cancelled');
    list();
    expect(kept(await other).state).toMatchObject({ kind: 'mcp.task' });
  });

  it.each([
    ['another task than the one asked for', { taskId: 'other', status: 'completed', result: { content: [] } }, /another task/],
    ['a state that does not exist', { status: 'sleeping' }, /Invalid result/],
  ])('fails MCP tasks of a hostile server that answers with %s', async (_title, answer, message) => {
    const tasks = await server(() => modernTasks({ answer }));
    const connection = await connect(tasks);
    const call = (state: Resumed['state']) => connection.call('held', {}, context({ reason: 'timer', state: state ?? null }).ctx);
    let { state } = kept(await connection.call('held', {}, context().ctx));
    await expect(
      (async () => {
        for (let look = 0; look < 25; look++) ({ state } = kept(await call(state)));
      })(),
    ).rejects.toThrow(message);
  });

  it('returns the readable parts of an odd MCP task result, since the tool has run', async () => {
    const tasks = await server(() => modernTasks({ answer: { status: 'completed', result: { structuredContent: { rows: 3 } } } }));
    const connection = await connect(tasks);
    const { state } = kept(await connection.call('held', {}, context().ctx));
    const output = await connection.call('held', {}, context({ reason: 'timer', state }).ctx);
    expect(output).toEqual({ content: [{ type: 'text', text: '{"rows":3}' }], structuredContent: { rows: 3 } });
  });

  it('bounds MCP tasks that ask without an end, or for the same again', async () => {
    let asked = 0;
    const inputRequests = () => ({ [`q${asked++}`]: { method: 'elicitation/create', params: { message: 'your password' } } });
    const tasks = await server(() => modernTasks({ answer: () => ({ status: 'input_required', inputRequests: inputRequests() }) }));
    await expect(follow('held', [await connect(tasks)])).rejects.toThrow('asked 20 times');
    expect(asked).toBe(21);
  });

  it('survives an MCP server of a task that cannot be reached for a while', async () => {
    const tasks = await server(modernTasks);
    const connection = await connect(tasks);
    const { state } = kept(await connection.call('held', {}, context().ctx));
    tasks.refuse(true);
    const later = kept(await connection.call('held', {}, context({ reason: 'timer', state }).ctx));
    expect(later.state).toMatchObject({ misses: 1 });
    tasks.refuse(false);
    tasks.release();
    expect(await follow('held', [connection], { reason: 'timer', state: later.state })).toMatchObject({ content: [{ text: 'held' }] });
  });

  it('answers an MCP task once, also if the next poll fails', async () => {
    const seen: string[] = [];
    const tasks = await server(() =>
      modernTasks({ fails: (method) => seen.push(method) > 0 && method === 'tasks/get' && seen.at(-2) === 'tasks/update' }),
    );
    const connection = await connect(tasks);
    const asked = kept(await follow('ask', [connection]));
    const output = await follow('ask', [connection], { reason: 'input', state: asked.state, input: BRANCH });
    expect(JSON.stringify(output)).toContain('next');
    expect(seen.filter((method) => method === 'tasks/update')).toHaveLength(1);
  });
});
