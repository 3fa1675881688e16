import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NO_GRANTS, type Batch } from '#contracts';
import type { Agent } from '../support/agent.js';
import { zeroclawContract } from './dialects/zeroclaw.contract.js';
import { phiContract } from './dialects/phi.contract.js';
import { oxydraContract } from './dialects/oxydra.contract.js';
import { kiroContract } from './dialects/kiro.contract.js';
import { claudeCodeContract } from './dialects/claude-code.contract.js';
import { codingTaskContract } from './dialects/coding-task.contract.js';
import { speakerOf } from './dialects/speaker.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { connectMcp, REVISIONS } from '../support/mcp-clients.js';
import { textOf } from '../support/policy-case.js';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe('a dialect', () => {
  let site: Server;
  let tenant: Tenant;
  let agent: Agent;
  let zeroclawKey: Agent;
  let origin: string;

  beforeAll(async () => {
    site = createServer((request, response) => {
      if (request.url === '/image') response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
      else if (request.url === '/gone') response.writeHead(404, { 'content-type': 'text/plain' }).end('it is gone');
      else if (request.method === 'POST') request.pipe(response.writeHead(200, { 'content-type': 'text/plain' }));
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<title>X</title><h1>Head</h1><p>text</p>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const { port } = site.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}`;
    const egress = { privateHosts: [`127.0.0.1:${port}`] };
    tenant = await useTenant('dialects', {
      keys: { zeroclaw: { dialect: 'zeroclaw', agents: ['*'] } },
      settings: {
        policy: { egress },
        agents: { strict: { policy: { profile: 'zeroclaw', egress } }, reader: { posture: { autonomy: 'read_only' } } },
      },
    });
    ({ agent } = tenant);
    zeroclawKey = tenant.agentOf('zeroclaw');
  });
  afterAll(async () => {
    await tenant?.close();
    site.close();
  });

  const started = () => ({ agent, origin });
  const speaking = (dialect: string) => speakerOf(started, dialect);

  describe('is chosen', () => {
    it('chooses a dialect by the call before the session, by the session before the key', async () => {
      expect(textOf(await zeroclawKey.run('file_write', { path: 'é', content: 'é' }, { sessionId: 'of-key' }))).toBe('Wrote 2 bytes to é');
      expect((await zeroclawKey.run('nope', {})).result?.content).toEqual([{ type: 'text', text: 'Unknown tool: nope' }]);
      expect(textOf(await zeroclawKey.run('nope', {}, { dialect: 'core' }))).toBe('Tool not found: nope');
      const { body: session } = await agent.request<{ dialect?: string }>('PUT', '/v1/sessions/plain', { dialect: 'core' });
      expect(session.dialect).toBe('core');
      expect(textOf(await zeroclawKey.run('nope', {}, { sessionId: 'plain' }))).toBe('Tool not found: nope');
      await agent.request('PUT', '/v1/sessions/plain', { dialect: null });
      expect(textOf(await zeroclawKey.run('nope', {}, { sessionId: 'plain' }))).toBe('Unknown tool: nope');
    });

    it('refuses the name of an unknown dialect, and lists the names that exist', async () => {
      for (const answer of [
        await agent.submit('shell', { command: 'ls' }, { dialect: 'klingon' }),
        await agent.get('/v1/tools?dialect=klingon'),
        await agent.request('PUT', '/v1/sessions/x', { dialect: 'klingon' }),
      ]) {
        expect(answer.status).toBe(422);
        expect(JSON.stringify(answer.body)).toContain('zeroclaw');
      }
    });
  });

  it.each([
    [
      'zeroclaw',
      'browser cron_add cron_list cron_remove delegate file_read file_write http_request memory_forget memory_recall memory_store shell web_fetch',
    ],
    ['phi', 'bash edit_file list_files read_file search write_file'],
    [
      'oxydra',
      'file_delete file_edit file_list file_read file_search file_write memory_delete memory_save memory_search memory_update shell_exec vault_copyto web_fetch web_search',
    ],
    ['kiro', 'code glob grep introspect knowledge read shell subagent summary switch_to_execution task use_aws web_fetch web_search write'],
    [
      'claude-code',
      'Agent Config NotebookEdit PowerShell REPL SendUserMessage Skill Sleep StructuredOutput TodoWrite ToolSearch WebFetch WebSearch bash edit_file glob_search grep_search read_file write_file',
    ],
  ])('shows a model of the dialect %s exactly the names of its agent that exist here [RP-02]', async (dialect, names) => {
    const { body } = await agent.get<{ tools: { name: string }[] }>(`/v1/tools?dialect=${dialect}`);
    expect(body.tools.map(({ name }) => name).join(' ')).toBe(names);
  });

  it('stores the canonical tool and arguments beside the called name, and evaluates the canonical ones', async () => {
    const call = await speaking('zeroclaw')('shell', ' echo hi ');
    expect(call).toMatchObject({ tool: 'shell', dialect: 'zeroclaw', arguments: { command: 'echo hi', timeout_ms: 60_000 } });
    const [submitted] = await agent.events(call.id);
    expect(submitted?.data).toMatchObject({ tool: 'shell', dialect: 'zeroclaw' });
    const sessionId = 'judged';
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { grants: { ...NO_GRANTS, deniedTools: ['shell'] }, dialect: 'zeroclaw' });
    expect((await agent.run('shell', { cmd: 'ls' }, { sessionId })).outcome).toBe('denied');
  });

  it('denies a tool by each name that an agent has for it, in a session [K-01]', async () => {
    const denied = async (sessionId: string, deniedTools: string[], tool: string, args: unknown, dialect: string) => {
      const { status: put, body: said } = await agent.request('PUT', `/v1/sessions/${sessionId}`, {
        grants: { ...NO_GRANTS, deniedTools },
      });
      expect([said, put]).toEqual([expect.anything(), 200]);
      const { outcome, decision } = await agent.run(tool, args, { sessionId, dialect });
      return [outcome, JSON.stringify(decision.reasons.map(({ reason }) => reason))];
    };
    const gone = ['denied', expect.stringContaining('denied by user')];
    for (const name of ['Bash', 'bash', 'shell', 'execute_bash', 'ExecuteCmd', '@builtin/Bash'])
      for (const [tool, dialect] of Object.entries({ bash: 'claude-code', executeCmd: 'kiro', shell_exec: 'oxydra', shell: 'core' }))
        expect([name, tool, ...(await denied('shells', [name], tool, { command: 'true' }, dialect))]).toEqual([name, tool, ...gone]);
    const edit = { command: 'strReplace', path: 'a', oldStr: 'a', newStr: 'b' };
    for (const name of ['write', 'fs_write', 'file_edit', 'MultiEdit'])
      expect([name, (await denied('editing', [name], 'fs_write', edit, 'kiro'))[0]]).toEqual([name, 'denied']);
    // Kiro's `ls` lists folders by `file_read`, which nothing denies.
    expect((await denied('listing', ['LS'], 'ls', { path: '.' }, 'kiro')).join()).toContain('ls is also file_list');
    expect((await denied('listing', ['file_list'], 'ls', { path: '.' }, 'kiro')).join()).toContain('ls is also file_list');
    expect((await denied('reading', ['LS'], 'file_read', { path: '.' }, 'core'))[1]).not.toContain('denied by');
  });

  it('replays a call in its own dialect, for any later dialect of the session', async () => {
    const call = await speaking('zeroclaw')('shell', 'echo hi; exit 3');
    const { body } = await agent.request('POST', `/v1/calls/${call.id}/replay`, {}, { prefer: 'wait=30' });
    expect(body).toMatchObject({ dialect: 'zeroclaw', arguments: call.arguments, result: { isError: true } });
    expect(textOf(body)).toBe('Exit code: 3\nhi\n');
  });

  it('applies a dialect to the calls of a batch and their strategy', async () => {
    const calls = [
      { tool: 'shell', arguments: 'echo a' },
      { tool: 'file_raed', arguments: { path: 'a' } },
    ];
    const { body } = await zeroclawKey.request<Batch>('POST', '/v1/batches', { calls }, { prefer: 'wait=30' });
    expect(body.strategy).toEqual({ type: 'sequential' });
    expect(body.results.map(({ result }) => result?.content[0])).toEqual([
      { type: 'text', text: 'a\n' },
      { type: 'text', text: 'Unknown tool: file_raed\nDid you mean: file_read?' },
    ]);
  });

  it.each(REVISIONS)('serves an MCP client in the dialect of its key: catalog and calls (%s)', async (revision) => {
    const client = await connectMcp(revision, { key: zeroclawKey.key, urls: [agent.url] });
    try {
      const { tools } = await client.tools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['call_result', 'file_read', 'shell']));
      expect(tools.some(({ name }) => name === 'file_edit')).toBe(false);
      const kiro = { meta: { 'io.toolyard/dialect': 'kiro' } };
      expect((await client.call('execute_bash', { command: 'echo alias' }, kiro)).content[0]?.text).toContain('alias');
      await expect(client.call('execute_bash', { command: 'true' })).rejects.toMatchObject({
        message: expect.stringContaining('Unknown tool'),
      });
      const { content, isError } = await client.call('shell', { cmd: 'exit 3' });
      expect([content, isError]).toEqual([[{ type: 'text', text: 'Exit code: 3' }], true]);
    } finally {
      await client.close();
    }
  });

  zeroclawContract(started);
  phiContract(started);
  oxydraContract(started);
  kiroContract(started);
  claudeCodeContract(started);
  codingTaskContract(started);
});
