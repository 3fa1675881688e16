import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { messagesOf, openSse, readSse, type SseMessage } from '../support/sse.js';

let tenant: Tenant;
let rival: Tenant;

beforeAll(async () => {
  tenant = await useTenant('stream-sse', { held: true });
  rival = await useTenant('stream-sse-rival');
});
afterAll(async () => {
  await tenant?.close();
  await rival?.close();
});

const read = (path: string, options: Parameters<typeof readSse>[1] = {}) =>
  readSse(tenant.url + path, { key: tenant.agent.key, ...options });
const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(tenant.url + path, { headers: { authorization: `Bearer ${tenant.agent.key}`, accept: 'text/event-stream', ...headers } });
const types = (messages: readonly SseMessage[]) => messages.map(({ event }) => event);

describe('event streams', () => {
  it('streams one call by SSE from its first event and ends after its End, id by id', async () => {
    const { body } = await tenant.agent.submit('held', {});
    const reading = read(`/v1/calls/${body.id}/events`);
    const attempt = await tenant.held.claim(body.id);
    attempt.update('half\n');
    await attempt.end('whole');
    const messages = await reading;
    expect(types(messages)).toEqual(['call.submitted', 'call.start', 'call.update', 'call.end']);
    expect(messages.map(({ data }) => JSON.parse(data))).toEqual(await tenant.agent.events(body.id));
    expect(messages.map(({ id }) => id)).toEqual(messages.map(({ data }) => JSON.parse(data).id));
    expect(await read(`/v1/calls/${body.id}/events`)).toEqual(messages);
  });

  it('continues an event stream after any event of a call', async () => {
    const { body } = await tenant.agent.submit('held', {});
    const attempt = await tenant.held.claim(body.id);
    for (let n = 0; n < 10; n += 1) attempt.update(`line ${n}`);
    await attempt.end('over');
    const whole = await read(`/v1/calls/${body.id}/events`);
    for (const [index, { id }] of whole.entries()) {
      if (index === whole.length - 1) break;
      expect(await read(`/v1/calls/${body.id}/events`, { lastEventId: id ?? '' })).toEqual(whole.slice(index + 1));
    }
  });

  it('continues the tenant’s event stream after any event, without a gap or a duplicate [EV-17]', async () => {
    const got: string[] = [];
    let lastEventId: string | undefined;
    const opened = await openSse(`${tenant.url}/v1/events`, tenant.agent.key);
    const first = await tenant.agent.submit('held', {});
    const [opening] = await eventually(() => {
      const some = messagesOf(opened.text());
      return some.length > 0 ? some : undefined;
    }, 'the first event');
    opened.close();
    got.push(JSON.parse(opening?.data ?? '{}').id);
    lastEventId = opening?.id;
    const calls = [first.body.id];
    for (let cut = 1; cut < 15; cut += 1) {
      const { body } = await tenant.agent.submit('held', { cut });
      calls.push(body.id);
      await tenant.held.run(body.id);
      const wanted = 1 + (cut % 3);
      const messages = (
        await read('/v1/events', { ...(lastEventId === undefined ? {} : { lastEventId }), enough: (some) => some.length >= wanted })
      ).slice(0, wanted);
      got.push(...messages.map(({ data }) => JSON.parse(data).id as string));
      lastEventId = messages.at(-1)?.id;
    }
    const expected = (await Promise.all(calls.map((id) => tenant.agent.events(id)))).flat().map(({ id }) => id);
    if (got.length < expected.length) {
      const rest = await read('/v1/events', {
        ...(lastEventId === undefined ? {} : { lastEventId }),
        enough: (some) => some.length >= expected.length - got.length,
      });
      got.push(...rest.map(({ data }) => JSON.parse(data).id as string));
    }
    expect([...got].sort()).toEqual([...expected].sort());
  });

  it('sends a resync on an event stream whose cursor is ahead of the log', async () => {
    const { body } = await tenant.agent.submit('held', {});
    await tenant.held.run(body.id);
    const [, partition] = ((await tenant.agent.events(body.id))[0]?.id ?? '').split('.');
    const messages = await read(`/v1/calls/${body.id}/events`, { lastEventId: `1.${partition}.999999999` });
    expect(types(messages)).toEqual(['resync']);
    expect(JSON.parse(messages[0]?.data ?? '{}')).toMatchObject({
      reason: 'cursor_ahead_of_log',
      snapshot: [{ id: body.id, status: 'ended' }],
    });
  });

  it('refuses event streams with problems before they begin', async () => {
    const { body } = await tenant.agent.submit('held', {});
    expect((await ask(`/v1/calls/${body.id}/events`, { 'last-event-id': 'nonsense' })).status).toBe(422);
    expect((await ask('/v1/events?bogus=1')).status).toBe(422);
    expect((await ask('/v1/calls/00-01JZ8C5W3Q4X9R7T2M6K8N0P1V/events')).status).toBe(404);
    expect((await ask(`/v1/calls/${body.id}/events`, { authorization: `Bearer ${rival.agent.key}` })).status).toBe(404);
    expect((await ask(`/v1/events?callId=${body.id}`, { authorization: `Bearer ${rival.agent.key}` })).status).toBe(404);
  });
});
