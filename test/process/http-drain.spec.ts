import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { SCOPES } from '#contracts';
import { ShutdownState } from '../../apps/gateway/src/platform/shutdown-state.service.js';
import { eventually } from '../support/eventually.js';
import { EventHub } from '#event-log';
import { Agent } from '../support/agent.js';
import { BOOTSTRAP_KEY, startTestGateway } from '../support/gateway.js';

describe('a gateway that stops', () => {
  it('answers open waits of any length early when a gateway stops, which then closes soon', async () => {
    const gateway = await startTestGateway('drain');
    const submission = gateway.agent.submit('echo', {}, {}, { prefer: 'wait=60' });
    await eventually(() => gateway.app.get(EventHub).counts.watches > 0, 'the wait to begin');
    const closing = gateway.close();
    expect(await submission).toMatchObject({ status: 202, body: { status: 'queued' } });
    await closing;
    await expect(fetch(`${gateway.url}/livez`)).rejects.toThrow('fetch failed');
  });

  it('stops a gateway without waiting for connections that browsers opened in advance', async () => {
    const gateway = await startTestGateway('drain', { drainMs: 600_000 });
    const unused = connect(Number(new URL(gateway.url).port), '127.0.0.1').resume();
    await once(unused, 'connect');
    await gateway.close();
    if (!unused.closed) await once(unused, 'close');
  });

  it('ends event streams with the gateway', async () => {
    const gateway = await startTestGateway('drain');
    const response = await fetch(`${gateway.url}/v1/events`, { headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` } });
    await gateway.close();
    expect(await response.text()).toContain(': this gateway is going away');
  });

  it('reports that a gateway is not ready before it stops listening', async () => {
    const gateway = await startTestGateway('drain');
    gateway.app.get(ShutdownState).begin();
    const answer = await fetch(`${gateway.url}/readyz`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await gateway.agent.submit('echo', {})).status).toBe(202);
    await gateway.close();
    await gateway.close();
  });

  it('hands accepted calls of a stopping gateway to the others, with shared rate limits', async () => {
    const keys = [
      { id: 'all', key: BOOTSTRAP_KEY, tenant: 'drain', scopes: [...SCOPES] },
      { id: `shared-${process.pid}`, key: 'key-with-a-shared-limit', tenant: 'drain', scopes: [...SCOPES], ratePerMinute: 2 },
    ];
    const [one, two] = await Promise.all([startTestGateway('drain', { keys }), startTestGateway('drain', { keys })]);
    const { body } = await one.agent.submit('echo', { at: 'one' }, {}, { 'idempotency-key': 'across' });
    const limited = [one, two, one].map(({ url }) => new Agent(url, 'key-with-a-shared-limit'));
    const statuses = [];
    for (const agent of limited) statuses.push((await agent.get('/v1/tools')).status);
    expect(statuses).toEqual([200, 200, 429]);
    await one.close();
    const waiting = two.agent.get(`/v1/calls/${body.id}?wait=20`);
    await two.run(body.id);
    expect((await waiting).body).toMatchObject({ id: body.id, status: 'ended' });
    expect((await two.agent.submit('echo', { at: 'one' }, {}, { 'idempotency-key': 'across' })).body.id).toBe(body.id);
    await two.close();
  });
});
