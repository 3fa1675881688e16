import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { ToolyardClient, ToolyardError } from '#client';
import type { CallEvent } from '#contracts';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { TEST_KEY, startTestCluster, type TestCluster } from '../support/test-cluster.js';

let toolyard: TestCluster;
let proxy: FaultyProxy;
let client: ToolyardClient;
let direct: ToolyardClient;

beforeAll(async () => {
  toolyard = await startTestCluster({ lists: true });
});
beforeEach(async () => {
  const { url } = toolyard.gateways[0]!;
  proxy = await FaultyProxy.start(url);
  client = new ToolyardClient({ baseUrl: proxy.url, apiKey: TEST_KEY, WebSocket });
  direct = new ToolyardClient({ baseUrl: url, apiKey: TEST_KEY });
});
afterEach(async () => {
  client.close();
  await proxy.close();
});
afterAll(() => toolyard.close());

/** Says a number every 0.3 s, which is one update each. */
const counting = (to: number) => ({ tool: 'shell', arguments: { command: `for i in $(seq ${to}); do echo n$i; sleep 0.3; done` } });

const idsOf = (events: readonly CallEvent[]) => events.map(({ id }) => id);

describe.each([
  ['WebSocket', WebSocket],
  ['server-sent events', false],
] as const)('a stream over %s', (name, transport) => {
  beforeEach(() => {
    client = new ToolyardClient({ baseUrl: proxy.url, apiKey: TEST_KEY, WebSocket: transport });
  });

  it('streams each event once over cuts after every few events [EV-17]', async () => {
    const seen: CallEvent[] = [];
    let cuts = 0;
    const reconnected = () => (cuts += 1);
    const onState = ({ state }: { state: string }) => state === 'reconnecting' && reconnected();
    // Each number waits until the update of the one before is there and its connection cut.
    const gate = `cut-${name.replaceAll(/\W/g, '-')}`;
    const command = `for i in $(seq 6); do echo n$i; until [ -e ${gate}-$i ]; do sleep 0.02; done; done`;
    for await (const event of client.calls.stream({ tool: 'shell', arguments: { command } }, { onState })) {
      seen.push(event);
      if (event.type !== 'call.update') continue;
      proxy.cut();
      writeFileSync(join(toolyard.workspaceRoot, 'default', 'default', `${gate}-${event.data.update}`), '');
    }
    expect(cuts).toBeGreaterThanOrEqual(5);
    expect(seen.at(-1)?.type).toBe('call.end');
    expect(idsOf(seen)).toEqual(idsOf(await direct.calls.events(seen[0]!.subject)));
  });

  it('continues a stream at another gateway when its own is killed [EV-17]', async () => {
    const doomed = await toolyard.gateway();
    proxy.to(doomed.url);
    const other = toolyard.gateways[0]!;
    const seen: CallEvent[] = [];
    for await (const event of client.calls.stream(counting(10))) {
      seen.push(event);
      if (event.type === 'call.update' && event.data.update === 3) {
        doomed.signal('SIGKILL');
        await doomed.ended();
        proxy.to(other.url);
      }
    }
    expect(seen.at(-1)?.type).toBe('call.end');
    expect(idsOf(seen)).toEqual(idsOf(await direct.calls.events(seen[0]!.subject)));
  });

  it('notices when an update was altered on the way, after the End', async () => {
    proxy.toClient = (piece) => Buffer.from(piece.toString('latin1').replaceAll('genuine', 'forged!'), 'latin1');
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of client.calls.stream({ tool: 'shell', arguments: { command: 'g=genu; echo ${g}ine' } }))
        types.push(event.type);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'stream_incomplete', message: expect.stringContaining('SHA-256') });
    await expect(reading).rejects.toBeInstanceOf(ToolyardError);
    expect(types).toContain('call.update');
    expect(types.at(-1)).toBe('call.end');
  });
});

describe('a watch of everything', () => {
  it('watches each event once, across cuts and a drain of its gateway', async () => {
    const leaving = await toolyard.gateway();
    proxy.to(leaving.url);
    let onLive: () => void = () => {};
    const isLive = new Promise<void>((resolve) => (onLive = resolve));
    const watch = client.watch({ sessionId: 'cut-watch' }, { onState: ({ state }) => state === 'live' && onLive() });
    await isLive;
    const calls = Array.from({ length: 6 }, (_, n) =>
      direct.calls.run({ ...counting(3), sessionId: 'cut-watch', labels: { n: String(n) } }),
    );
    const seen: CallEvent[] = [];
    let ends = 0;
    let drained = false;
    for await (const item of watch) {
      if (item.kind !== 'event') continue;
      seen.push(item.event);
      if (seen.length % 7 === 0) proxy.cut();
      if (!drained && seen.length > 15) {
        drained = true;
        proxy.to(toolyard.gateways[0]!.url);
        leaving.signal('SIGTERM');
      }
      if (item.event.type === 'call.end' && ++ends === 6) break;
    }
    const ended = await Promise.all(calls);
    const logged = (await Promise.all(ended.map(({ id }) => direct.calls.events(id)))).flat();
    const bySeq = (ids: string[]) => ids.toSorted((a, b) => Number(a.split('.')[2]) - Number(b.split('.')[2]));
    expect(idsOf(seen)).toEqual(bySeq(idsOf(logged)));
  });
});

describe('a submission whose answer is lost', () => {
  it('makes one call for a submission with a lost answer, for any number of repetitions', async () => {
    const sessionId = 'cut-answers';
    let lost = 0;
    proxy.toClient = (piece) => (lost++ < 3 ? undefined : piece);
    const call = await client.calls.submit({ tool: 'echo', arguments: { n: 1 }, sessionId });
    expect(lost).toBeGreaterThan(3);
    const { calls } = await direct.calls.list({ sessionId });
    expect(calls.map(({ id }) => id)).toEqual([call.id]);
  });
});
