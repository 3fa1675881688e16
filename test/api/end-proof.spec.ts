import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { ToolyardClient } from '#client';
import type { CallEvent, CallEventOf } from '#contracts';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const NONE = { count: 0, sha256: createHash('sha256').digest('hex') };

describe('the End of a call', () => {
  let tenant: Tenant;
  let client: ToolyardClient;
  beforeAll(async () => {
    tenant = await useTenant('end-proof', { held: true });
    client = new ToolyardClient({ baseUrl: tenant.url, apiKey: tenant.keyOf('main'), WebSocket });
  });
  afterAll(async () => {
    client?.close();
    await tenant?.close();
  });

  /** Read by the client, which throws when the updates are not those that End tells of. */
  const eventsOf = async (callId: string): Promise<CallEvent[]> => {
    const events: CallEvent[] = [];
    for await (const event of client.calls.stream(callId)) events.push(event);
    return events;
  };
  const endOf = async (callId: string): Promise<CallEventOf<'call.end'>> => {
    const end = (await eventsOf(callId)).at(-1);
    if (end?.type !== 'call.end') throw new Error(`the last event is ${end?.type}`);
    return end;
  };
  const submit = async (tool = 'held', more: Record<string, unknown> = {}) => {
    const { status, body } = await tenant.agent.submit(tool, {}, more);
    return status < 400 ? body.id : (body as unknown as { callId: string }).callId;
  };

  it('proves in End the updates of all attempts', async () => {
    const id = await submit();
    const first = await tenant.held.claim(id);
    first.update('a');
    first.update('b');
    await first.retry();
    await (await tenant.held.claim(id)).retry();
    const third = await tenant.held.claim(id);
    third.update('c');
    await third.end('done');
    const updates = (await eventsOf(id)).flatMap((event) => (event.type === 'call.update' ? [event.data] : []));
    const texts = updates.flatMap(({ content }) => content.map((item) => (item.type === 'text' ? item.text : '')));
    expect(texts.join('')).toBe('abc');
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect((await endOf(id)).data).toMatchObject({ attempts: 3, updates: { count: updates.length, sha256 } });
  });

  it('proves in End the updates of the attempts before it, when a call is cancelled in the queue', async () => {
    const id = await submit();
    const first = await tenant.held.claim(id);
    first.update('a');
    await first.retry();
    expect((await tenant.agent.request('POST', `/v1/calls/${id}/cancel`, {})).status).toBe(202);
    expect((await endOf(id)).data).toMatchObject({ outcome: 'cancelled', updates: { count: 1 } });
  });

  it('proves in the End that there were no updates of a refused, denied, early cancelled or silent call', async () => {
    const silent = await submit();
    await tenant.held.run(silent);
    const cancelled = await submit();
    await tenant.agent.request('POST', `/v1/calls/${cancelled}/cancel`, {});
    await tenant.agent.request('PUT', '/v1/sessions/asked', { posture: { permissionMode: 'prompt' } });
    const denied = await submit('shell', { sessionId: 'asked', arguments: { command: 'date' } });
    await tenant.agent.request('POST', `/v1/calls/${denied}/decision`, { decision: 'deny', scope: 'once' });
    const refused = await submit('no_such_tool');
    const ends = [await endOf(silent), await endOf(cancelled), await endOf(denied), await endOf(refused)];
    expect(ends.map(({ data }) => [data.outcome, data.updates])).toEqual([
      ['completed', NONE],
      ['cancelled', NONE],
      ['denied', NONE],
      ['failed', NONE],
    ]);
  });
});
