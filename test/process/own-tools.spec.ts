import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Content, ToolSubject } from '#contracts';
import { Tool, type ToolContext } from '#tool-sdk';
import { startWorker, type RunningWorker } from '../../apps/worker/src/main.js';
import { readWorkerConfig } from '../../apps/worker/src/platform/worker.config.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';

const pathInput = z.strictObject({ path: z.string() });
const ran: string[] = [];

/** The tool as gateway and worker have it; where they are of two releases, it may touch other things in each. */
function archiveTool(access: Extract<ToolSubject, { kind: 'path' }>['access']) {
  @Tool({
    name: 'archive',
    description: 'Archives a file.',
    input: pathInput,
    tier: 'side_effecting',
    effect: 'idempotent',
    subjects: [{ kind: 'path', argument: 'path', access }],
  })
  class ArchiveTool {
    run({ path }: { path: string }): string {
      ran.push(path);
      return 'archived';
    }
  }
  return ArchiveTool;
}

@Tool({ name: 'who_am_i', description: 'Says its name.', input: z.strictObject({}), tier: 'read_only', aliases: ['WhoAmI'] })
class WhoAmITool {
  run(_args: object, { toolName }: ToolContext): string {
    return toolName;
  }
}

/** The context as tools know it that use little of it. */
interface FirstContext {
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly onUpdate: (content: Content[]) => void;
}

@Tool({ name: 'first_release', description: 'Is older than most of its context.', input: z.strictObject({}), tier: 'read_only' })
class FirstReleaseTool {
  run(_args: object, ctx: FirstContext): string {
    ctx.signal.throwIfAborted();
    ctx.onUpdate([{ type: 'text', text: 'from the first release' }]);
    return `${ctx.callId} with ${Object.keys(ctx).length > 3 ? 'more' : 'the same'}`;
  }
}

const given: unknown[] = [];

@Tool({ name: 'probe', description: 'Keeps what it is given.', input: z.looseObject({}), tier: 'read_only' })
class ProbeTool {
  run(args: object, { tenantId, sessionId, onUpdate, onProgress }: ToolContext): string {
    given.push(args, tenantId, sessionId);
    onUpdate([{ type: 'text', text: 'partial\n' }]);
    onProgress({ message: 'half', done: 1, total: 2 });
    return 'final';
  }
}

@Tool({
  name: 'give',
  description: 'Returns nothing, or content of each kind.',
  input: z.strictObject({ nothing: z.boolean() }),
  tier: 'read_only',
})
class GiveTool {
  run({ nothing }: { nothing: boolean }): string | Content[] {
    return nothing ? '' : CONTENT;
  }
}
const CONTENT: Content[] = [
  { type: 'text', text: 'a' },
  { type: 'json', json: { b: 1 } },
  { type: 'image', data: 'aGk=', mimeType: 'image/png' },
];

@Tool({ name: 'deploy', description: 'Deploys.', input: z.strictObject({ to: z.string() }) })
class DeployTool {
  async confirm({ to }: { to: string }, { callId }: ToolContext): Promise<boolean> {
    return callId !== '' && to !== 'production';
  }
  run({ to }: { to: string }): string {
    ran.push(to);
    return `deployed to ${to}`;
  }
}

const TOOLS = [WhoAmITool, FirstReleaseTool, ProbeTool, GiveTool, DeployTool];

describe('tools that an operator adds as classes', () => {
  let redis: RedisServer;
  let gateway: TestGateway;
  let worker: RunningWorker;
  const workspaceRoot = mkdtempSync(join(tmpdir(), 'toolyard-own-tools-'));

  beforeAll(async () => {
    redis = await startRedisServer();
    gateway = await startTestGateway('default', { redisUrl: redis.url }, [archiveTool('read'), ...TOOLS]);
    const env = { PATH: process.env['PATH'], REDIS_URL: redis.url, WORKER_PORT: 'off', WORKSPACE_ROOT: workspaceRoot, LOG_LEVEL: 'silent' };
    worker = await startWorker(readWorkerConfig(env), [archiveTool('write'), ...TOOLS]);
  });
  afterAll(async () => {
    await worker?.close();
    await gateway?.close();
    await redis?.stop();
    rmSync(workspaceRoot, { recursive: true, force: true });
  });

  it('denies a tool under another capability profile than it was judged under; the error names both [PP-41]', async () => {
    const call = await gateway.agent.run('archive', { path: 'a.txt' });
    expect(call).toMatchObject({ outcome: 'denied', error: { code: 'policy_denied', retryable: false } });
    expect(call.error?.message).toContain('file_read_only');
    expect(call.error?.message).toContain('file_read_write');
    expect(ran).not.toContain('a.txt');
  });

  it('shows a tool in its context the name used by the model [CC-21]', async () => {
    const names = ['WhoAmI', 'who_am_i'];
    const calls = await Promise.all(names.map((name) => gateway.agent.run(name, {})));
    expect(calls.map(({ result }) => result?.content)).toEqual(names.map((text) => [{ type: 'text', text }]));
  });

  it('runs a tool although its context has more than when the tool was written [CC-28]', async () => {
    const call = await gateway.agent.run('first_release', {});
    expect(call).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'text', text: `${call.id} with more` }] } });
    const updates = (await gateway.agent.events(call.id)).flatMap((event) => (event.type === 'call.update' ? event.data.content : []));
    expect(updates.map((item) => (item.type === 'text' ? item.text : '')).join('')).toBe('from the first release');
  });

  it('gives a tool a context that no argument can change [CC-17]', async () => {
    const args = { ctx: { tenantId: 'other', sessionId: 'other' }, tenantId: 'other', sessionId: 'other' };
    await gateway.agent.run('probe', args, { sessionId: 's1' });
    expect(given.splice(0)).toEqual([args, 'default', 's1']);
  });

  it('shows partial content and progress of a tool to watchers, and only its last word to the model [CC-23, CC-24, EV-04]', async () => {
    const { id, result } = await gateway.agent.run('probe', {});
    const events = await gateway.agent.events(id);
    const ofType = (type: string) => events.filter((event) => event.type === type);
    expect(ofType('call.update')).toMatchObject([{ subject: id, data: { update: 1, content: [{ type: 'text', text: 'partial\n' }] } }]);
    expect(ofType('call.progress')).toMatchObject([{ subject: id, tool: 'probe', data: { message: 'half', done: 1, total: 2 } }]);
    expect(result).toEqual({ content: [{ type: 'text', text: 'final' }], isError: false });
  });

  it('reads no output of a tool as an empty text, and keeps text, JSON and images [CC-33, CC-34]', async () => {
    const contentOf = async (nothing: boolean) => (await gateway.agent.run('give', { nothing })).result?.content;
    expect([await contentOf(true), await contentOf(false)]).toEqual([[{ type: 'text', text: '' }], CONTENT]);
  });

  it('runs a tool after its confirm function returned true, and answers the known text after false [PP-96]', async () => {
    expect(await gateway.agent.run('deploy', { to: 'production' })).toMatchObject({
      outcome: 'denied',
      error: { code: 'approval_denied' },
      result: { content: [{ type: 'text', text: 'Command was not confirmed by the user.' }], isError: true },
    });
    expect(ran).not.toContain('production');
    const call = await gateway.agent.run('deploy', { to: 'staging' });
    expect(call).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'text', text: 'deployed to staging' }] } });
  });
});
