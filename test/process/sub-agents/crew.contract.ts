import { describe, expect, it } from '@jest/globals';
import type { Call, ToolDescriptor } from '#contracts';
import type { Agent } from '../../support/agent.js';
import type { ModelServer, ScriptedToolCall } from '../../support/model-server.js';

/** A cluster with the sub-agents helper, claude, thrifty, short, impatient, all, boss, explore and verification, an agent called planner, and the server of their models. */
export type SubAgentInstallation = () => { readonly agent: Agent; readonly models: ModelServer };

const calls = (name: string, args: object = {}, id = 'a'): ScriptedToolCall[] => [{ id, name, arguments: args }];
const textOf = (call: Call) => call.result?.content.map((item) => (item.type === 'text' ? item.text : '')).join('');
const offeredTo = (models: ModelServer, model: string): string[] =>
  models.calls(model)[0]?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);

/** Contract: results of the tools that start several sub-agents, or hand over to one. */
export function crewContract(started: SubAgentInstallation): void {
  describe('a sub-agent', () => {
    it('lets a model of claude-code call a sub-agent, wait for its text or continue with its id [K-21, TB-90]', async () => {
      const { agent, models } = started();
      models.on('helper', [{ text: 'done' }]);
      const claude = { description: 'digs', prompt: 'Dig', subagent_type: 'helper', model: 'opus' };
      expect(textOf(await agent.run('Agent', claude, { dialect: 'claude-code' }))).toBe('done');
      models.on('helper', [{ text: 'done' }]);
      const later = await agent.run('Agent', { ...claude, run_in_background: true }, { dialect: 'claude-code' });
      expect(JSON.parse(textOf(later) ?? '')).toMatchObject({ name: 'helper', status: 'running' });
      expect((await agent.ended(later.result?.childCallIds?.[0] ?? '')).outcome).toBe('completed');
    });

    it('runs the stages of a crew after those that they depend on, with their results [TB-94]', async () => {
      const { agent, models } = started();
      const stage = (name: string, role: string, depends_on: string[] = []) => ({
        name,
        role,
        prompt_template: `${name}: {task}`,
        depends_on,
      });
      models.on('helper', [{ text: 'A' }]);
      models.on('claude', [{ text: 'B' }]);
      models.on('all', [{ text: 'C' }]);
      const stages = [stage('c', 'all', ['a', 'b']), stage('a', 'helper'), stage('b', 'claude')];
      const call = await agent.run('agent_crew', { task: 'dig $& deep', stages });
      expect(textOf(call)).toBe('Pipeline completed: 3 stages finished.\n\n## c\nC\n\n---\n\n## a\nA\n\n---\n\n## b\nB');
      const [c, a, b] = await childrenOf(agent, call);
      const begun = (it: Call | undefined) => Date.parse(it?.submittedAt ?? '');
      const ended = (it: Call | undefined) => Date.parse(it?.endedAt ?? '');
      expect([begun(a), begun(b)].every((time) => time < ended(a) && time < ended(b))).toBe(true);
      expect(begun(c)).toBeGreaterThanOrEqual(Math.max(ended(a), ended(b)));
      const read = '[Result of a]\nA\n\n[Result of b]\nB\n\nc: dig $& deep';
      expect(models.calls('all')[0]?.body.messages.at(-1)).toEqual({ role: 'user', content: read });

      models.on('helper', [{ status: 401 }]);
      models.on('claude', [{ text: 'B' }]);
      const broken = await agent.run('agent_crew', { task: 'dig', stages });
      expect(broken.result?.isError).toBe(true);
      expect(textOf(broken)).toMatch(
        /1 stages finished\.[^]*## c\nFailed: Left out: the stage a has no result\.[^]*## a\nFailed: The model/,
      );
      const fault = async (wrong: object[]) => (await agent.run('agent_crew', { task: 'x', stages: wrong })).error?.message;
      expect(await fault([stage('a', 'stranger')])).toMatch(/^Agents not available for crew stages: stranger\. Available agents: .*helper/);
      expect(await fault([stage('a', 'helper', ['b']), stage('b', 'helper', ['a'])])).toBe('These stages wait for each other: a, b');
      expect(await fault([stage('a', 'helper', ['z'])])).toContain("depends on unknown stage 'z'. Stages: a");
    });

    it('gives a sub-agent of a known type exactly the tools of that type, and no sub-agents [TB-91, AV-17]', async () => {
      const { agent, models } = started();
      models.on('explore', [{ toolCalls: calls('write_file', { path: 'a', content: 'b' }) }, { text: 'Looked.' }]);
      const asked = { description: 'looks', prompt: 'Look', subagent_type: 'Explore' };
      expect(textOf(await agent.run('Agent', asked, { dialect: 'claude-code' }))).toBe('Looked.');
      expect(resultsRead(models, 'explore')).toEqual([
        expect.stringMatching(/^tool `write_file` is not enabled for this sub-agent\. Available: .*file_read/),
      ]);
      expect(offeredTo(models, 'explore')).toEqual(expect.arrayContaining(['file_read', 'glob', 'web_fetch', 'summary']));
      for (const name of ['shell', 'file_write', 'agent', 'helper', 'ask_user']) expect(offeredTo(models, 'explore')).not.toContain(name);
      models.on('verification', [{ text: 'Verified.' }]);
      await agent.run('verification', { task: 'Verify' });
      expect(offeredTo(models, 'verification')).toEqual(['file_list', 'file_read', 'file_search', 'shell', 'summary']);
    });

    it('names sub-agents in the schemas of tools that start them; sub-agents have none of these tools [RP-14, AV-09, AV-13]', async () => {
      const { agent, models } = started();
      const { body } = await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools');
      const schemaOf = (name: string) => body.tools.find((tool) => tool.name === name)?.input;
      const names = ['all', 'boss', 'claude', 'explore', 'helper', 'impatient', 'short', 'thrifty', 'verification'];
      expect(schemaOf('agent')).toMatchObject({ properties: { agent: { enum: names } } });
      expect(schemaOf('agent_crew')).toMatchObject({ properties: { stages: { items: { properties: { role: { enum: names } } } } } });
      expect(JSON.stringify(body.tools)).not.toContain('x-choices');
      models.on('all', [
        { toolCalls: calls('agent_crew', { task: 'x', stages: [] }).concat(calls('task_list', {}, 'b')) },
        { text: 'Done.' },
      ]);
      await agent.run('all', { task: 'x' });
      const offered = offeredTo(models, 'all');
      for (const name of ['agent', 'agent_crew', 'task_list', 'switch_to_execution']) expect(offered).not.toContain(name);
      expect(resultsRead(models, 'all')).toEqual([expect.stringContaining('is not enabled'), expect.stringContaining('is not enabled')]);
    });

    it('gives a sub-agent the plan of a planner as its first prompt, and shows the plan in the session [TB-96]', async () => {
      const { agent, models } = started();
      const sessionId = 'planned';
      models.on('helper', [{ text: 'Executed.' }]);
      const call = await agent.run('switch_to_execution', { plan: '1. Dig', agent: 'helper' }, { sessionId, agentId: 'planner' });
      const [executor = ''] = call.result?.childCallIds ?? [];
      expect(call.result?.content).toEqual([{ type: 'json', json: { approved: true, plan: '1. Dig', agentId: executor } }]);
      expect(textOf(await agent.ended(executor))).toBe('Executed.');
      expect(models.calls('helper')[0]?.body.messages.at(-1)).toEqual({ role: 'user', content: '1. Dig' });
      const { body } = await agent.get<{ execution?: object }>(`/v1/sessions/${sessionId}`);
      expect(body.execution).toEqual({ plan: '1. Dig', agent: 'helper', callId: call.id });
    });
  });
}

const childrenOf = (agent: Agent, { result }: Call) =>
  Promise.all((result?.childCallIds ?? []).map(async (id) => (await agent.get(`/v1/calls/${id}`)).body));
/** Results of calls in the model's second request. */
const resultsRead = (models: ModelServer, model: string): string[] =>
  models.calls(model)[1]?.body.messages.flatMap((it: { role: string; content: string }) => (it.role === 'tool' ? [it.content] : []));
