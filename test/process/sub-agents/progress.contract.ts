import { describe, expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import { eventually } from '../../support/eventually.js';
import type { ScriptedToolCall } from '../../support/model-server.js';
import type { SubAgentInstallation } from './crew.contract.js';

const calls = (name: string, args: object | string = {}, id = 'a'): ScriptedToolCall[] => [{ id, name, arguments: args }];
const textOf = (call: Call) => call.result?.content.map((item) => (item.type === 'text' ? item.text : '')).join('');

/** Contract: progress of a sub-agent, and results of ones that a limit ended: short after 2 turns, impatient after 300 ms. */
export function progressContract(started: SubAgentInstallation): void {
  describe('the progress of a sub-agent', () => {
    it('streams the text of a sub-agent before its model has answered to the end [TS-44]', async () => {
      const { agent, models } = started();
      let goOn = () => {};
      const pause = new Promise<void>((resolve) => (goOn = resolve));
      models.on('helper', [{ text: ['First. ', 'Second.'], pause }]);
      const { body } = await agent.submit('helper', { task: 'Do it' });
      const streamed = async () =>
        (await agent.events(body.id))
          .flatMap((event) => (event.type === 'call.update' ? event.data.content : []))
          .map((item) => (item.type === 'text' ? item.text : ''))
          .join('');
      await eventually(async () => (await streamed()) === 'First. ', 'the first piece of text');
      expect((await agent.get(`/v1/calls/${body.id}`)).body.status).toBe('running');
      goOn();
      expect(textOf(await agent.ended(body.id))).toBe('First. Second.');
      expect(await streamed()).toBe('First. Second.');
    });

    it('reports in the progress of a sub-agent the tools and the number of the turn, of how many turns [EV-18]', async () => {
      const { agent, models } = started();
      models.on('helper', [{ toolCalls: [...calls('echo'), ...calls('sleep', { duration_ms: 1 }, 'b')] }, { text: 'Done.' }]);
      const { id } = await agent.run('helper', { task: 'Do it' });
      const progress = (await agent.events(id)).flatMap((event) => (event.type === 'call.progress' ? [event.data] : []));
      expect(progress).toContainEqual({ message: '[1/10] Executing tools: echo, sleep', done: 0, total: 10 });
    });

    it('ends a sub-agent with exhausted turns, or time within a turn, and names the exceeded budget [EX-29]', async () => {
      const { agent, models } = started();
      models.on('short', (_call, n) => ({ text: `turn ${n + 1}`, toolCalls: calls('echo') }));
      expect(await agent.run('short', { task: 'Never stop' })).toMatchObject({
        outcome: 'completed',
        result: { details: { turns: 2, stopped: 'max_turns', reason: 'turn budget exceeded' } },
      });
      models.on('impatient', [{ until: new Promise<never>(() => {}) }]);
      expect(await agent.run('impatient', { task: 'Answer at once' })).toMatchObject({
        outcome: 'completed',
        result: { details: { turns: 0, stopped: 'max_time', reason: 'time budget exceeded' } },
      });
    });
  });
}
