import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { ToolyardClient, type WatchItem } from '#client';
import { TEST_KEY, startToolyard, type Toolyard } from '../../../test/support/toolyard.js';

let toolyard: Toolyard;
let client: ToolyardClient;

beforeAll(async () => {
  toolyard = await startToolyard();
  client = new ToolyardClient({ baseUrl: toolyard.gateways[0]!.url, apiKey: TEST_KEY, WebSocket });
});
afterAll(async () => {
  client.close();
  await toolyard.close();
});

describe('the client', () => {
  it('submits a call, waits for its end and reads what happened', async () => {
    const call = await client.calls.run({ tool: 'shell', arguments: { command: 'echo hello' } });
    expect(call).toMatchObject({ status: 'ended', outcome: 'completed' });
    expect((await client.calls.events(call.id)).map(({ type }) => type)).toEqual(expect.arrayContaining(['call.submitted', 'call.end']));
  });

  it('watches everything from the moment it is live on', async () => {
    let live = () => {};
    const isLive = new Promise<void>((resolve) => (live = resolve));
    const watch = client.watch({}, { onState: ({ state }) => state === 'live' && live() });
    await isLive;
    const { id } = await client.calls.submit({ tool: 'echo', arguments: { n: 1 } });
    const seen: WatchItem[] = [];
    for await (const item of watch) {
      seen.push(item);
      if (item.kind === 'event' && item.event.subject === id && item.event.type === 'call.end') break;
    }
    const types = seen.flatMap((item) => (item.kind === 'event' && item.event.subject === id ? [item.event.type] : []));
    expect(types).toEqual(['call.submitted', 'call.start', 'call.end']);
  });
});
