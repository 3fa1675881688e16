import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallEvent } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { readSse } from '../support/sse.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const LINE_A_SECOND = 'for i in 1 2 3; do echo line $i; sleep 1; done';
/** Within it a line of a running command is promised to be seen. */
const UPDATE_MS = 1_500;
const types = (events: readonly CallEvent[]) => events.map((event) => event.type);
const textOf = (event: CallEvent) =>
  event.type === 'call.update' ? event.data.content.map((item) => (item.type === 'text' ? item.text : '')).join('') : '';

describe('one call, end to end through every interface', () => {
  let tenant: Tenant;
  let agent: Agent;
  beforeAll(async () => {
    tenant = await useTenant('first-call');
    agent = tenant.agent;
  });
  afterAll(() => tenant.close());

  it('answers a shell call over HTTP with the output when the wait suffices [TB-01]', async () => {
    const answer = await agent.submit('shell', { command: 'echo hello' }, {}, { prefer: 'wait=60' });
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'ended', outcome: 'completed', attempt: 1, result: { content: [{ type: 'text', text: 'hello\n' }], isError: false } },
    });
    expect(answer.headers.get('preference-applied')).toBe('wait=60');
  });

  it('answers 202 with a Location at once without a wait', async () => {
    const answer = await agent.submit('echo', { a: 1 });
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/v1/calls/${answer.body.id}`);
    expect((await agent.ended(answer.body.id)).outcome).toBe('completed');
  });

  it('streams Start, live Updates and End of a call submitted over WebSocket [CC-20, EV-01, EV-02, EX-30]', async () => {
    const stream = await agent.stream();
    // No line is written before the one before it was seen: what is held back until the End is never seen.
    const gate = (n: number) => join(tenant.workspaceOf(), `seen-${n}`);
    const lines = [1, 2, 3].map((n) => `echo line ${n}; until [ -e seen-${n} ]; do sleep 0.05; done`);
    stream.send({ op: 'submit', id: 'job', call: { tool: 'shell', arguments: { command: lines.join('; ') } } });
    const { call } = await stream.frame('accepted', 'job');
    for (const n of [1, 2, 3]) {
      const isThere = () => stream.events('job').some(({ event }) => textOf(event).includes(`line ${n}`));
      await eventually(isThere, `line ${n} while the command waits`, 10 * UPDATE_MS);
      writeFileSync(gate(n), '');
    }
    await eventually(() => stream.events('job').some(({ event }) => event.type === 'call.end'), 'the End');

    const seen = stream.events('job');
    const events = seen.map(({ event }) => event);
    expect(types(events).filter((type) => type !== 'call.update')).toEqual(['call.submitted', 'call.start', 'call.end']);
    expect(types(events).lastIndexOf('call.update')).toBeLessThan(types(events).indexOf('call.end'));
    expect(events.map(textOf).join('')).toBe('line 1\nline 2\nline 3\n');
    expect(events.every((event) => event.subject === call.id)).toBe(true);
    expect(await agent.events(call.id)).toEqual(events);
    stream.close();
  });

  it('streams by SSE the events that the list has, and a resumed stream has no gap and no double [EV-17]', async () => {
    const { body } = await agent.submit('shell', { command: LINE_A_SECOND });
    const path = `/v1/calls/${body.id}/events`;
    const { key } = agent;
    const first = await readSse(agent.url + path, {
      key,
      enough: (messages) => messages.some((message) => message.event === 'call.update'),
    });
    const rest = await readSse(tenant.otherUrl + path, { key, lastEventId: first.at(-1)?.id ?? '' });

    const received = [...first, ...rest].map((message) => JSON.parse(message.data) as CallEvent);
    expect(received).toEqual(await agent.events(body.id));
    expect(received.at(-1)).toMatchObject({ type: 'call.end', data: { outcome: 'completed' } });
  });

  it('resumes a WebSocket subscription after a forced disconnect without gap or double [EV-17]', async () => {
    const before = await agent.stream();
    before.send({ op: 'subscribe', id: 's', filter: { sessionId: 'resumed' } });
    await before.frame('subscribed', 's');
    const ids = await Promise.all(
      Array.from({ length: 30 }, async (_unused, n) => (await agent.submit('echo', { n }, { sessionId: 'resumed' })).body.id),
    );
    await eventually(() => before.events('s').length > 10, 'some events');
    before.close();
    const received = before.events('s');

    const after = await agent.stream();
    after.send({ op: 'subscribe', id: 's', filter: { sessionId: 'resumed' }, cursor: received.at(-1)?.cursor });
    const ended = () => [...received, ...after.events('s')].filter(({ event }) => event.type === 'call.end').length;
    await eventually(() => ended() === ids.length, 'every End');
    const all = [...received, ...after.events('s')].map(({ event }) => event.id);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBe(ids.length * 3);
    after.close();
  });

  it('cancels a running shell call at the other gateway, and reports how it stopped [CC-38, CC-43]', async () => {
    const { body } = await agent.submit('shell', { command: 'echo up; sleep 60' });
    await eventually(async () => types(await agent.events(body.id)).includes('call.update'), 'the command to run');
    const other = tenant.other;
    expect((await other.request('POST', `/v1/calls/${body.id}/cancel`, { reason: 'changed my mind', graceMs: 20_000 })).status).toBe(202);
    expect(await agent.ended(body.id)).toMatchObject({
      outcome: 'cancelled',
      error: { code: 'cancelled' },
      result: { isError: true, content: [{ text: 'Cancelled' }] },
    });
    const end = (await agent.events(body.id)).at(-1);
    expect(end).toMatchObject({ type: 'call.end', data: { stopped: { how: 'stopped' } } });
  });

  it('kills a command that ignores SIGTERM when the run limit is over, grandchildren too [EX-25]', async () => {
    const call = await agent.run('shell', { command: `trap '' TERM; setsid sleep 61.5 & sleep 61.5` }, { timeouts: { runMs: 500 } });
    expect(call).toMatchObject({ outcome: 'timed_out', error: { code: 'run_timeout' } });
    const left = await agent.run('shell', { command: `grep -las 'sleep.61[.]5' /proc/[0-9]*/cmdline || echo none` });
    expect(left.result?.content).toEqual([{ type: 'text', text: 'none\n' }]);
  });

  it('serves the whole of a long output by range, beside a result within the model limit [EX-40, EX-41, EX-48]', async () => {
    const call = await agent.run('shell', { command: 'head -c 142857 /dev/zero | tr "\\0" x' });
    const [item] = call.result?.content ?? [];
    const shown = item?.type === 'text' ? item.text : '';
    expect(shown).toMatch(
      /^x{12288}\n\[output truncated — original size: 142,857 bytes; 126,473 left out here; exit code 0; .*\]\nx{4096}$/,
    );
    expect(call.result?.truncated).toEqual({ originalBytes: 142_857, artifactUri: `/v1/calls/${call.id}/output` });
    const whole = await agent.get<string>(`/v1/calls/${call.id}/output`);
    expect(whole.body).toBe('x'.repeat(142_857));
    const part = await agent.get<string>(`/v1/calls/${call.id}/output`, { range: 'bytes=142850-' });
    expect([part.status, part.body, part.headers.get('content-range')]).toEqual([206, 'xxxxxxx', 'bytes 142850-142856/142857']);
  });

  it('shares the files of a session between tools and workers, and between no sessions [CC-25, DX-07, TB-30]', async () => {
    const session = { sessionId: 'files' };
    expect((await agent.run('file_write', { path: 'notes/a.txt', content: 'é' }, session)).result?.content).toEqual([
      { type: 'text', text: 'Wrote 2 bytes to notes/a.txt' },
    ]);
    expect((await agent.run('shell', { command: 'cat notes/a.txt' }, session)).result?.content).toEqual([{ type: 'text', text: 'é' }]);
    expect((await agent.run('file_read', { path: 'notes/a.txt' }, { sessionId: 'other' })).outcome).toBe('failed');
  });

  it('runs a call again on replay, with its lineage', async () => {
    const first = await agent.run('echo', { n: 1 });
    const again = await agent.request('POST', `/v1/calls/${first.id}/replay`, { arguments: { n: 2 } }, { prefer: 'wait=60' });
    expect(again).toMatchObject({ status: 200, body: { replayOf: first.id, arguments: { n: 2 }, outcome: 'completed' } });
    expect(again.body.id).not.toBe(first.id);
  });
});
