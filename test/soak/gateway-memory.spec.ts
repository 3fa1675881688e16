import { expect, it } from '@jest/globals';
import { runLoad } from '../bench/load.js';
import { KEY, startToolyard } from '../bench/toolyard.contender.js';
import { Agent } from '../support/agent.js';
import { freePort } from '../support/free-port.mjs';
import { startRedisServer } from '../support/redis-server.mjs';
import { openSse } from '../support/sse.js';
import { InspectedHeap, type HeapSample } from './inspected-heap.js';

const CALLS = Number(process.env['SOAK_CALLS'] ?? 200_000);
const CALLS_A_SAMPLE = 20_000;
/** Calls of one run, limited by the two minutes of the load. */
const CALLS_A_RUN = 5_000;
const IN_FLIGHT = 64;
/** Allowed growth in MiB after the caches are full. A leak of 200 bytes a call exceeds it. */
const GROWTH_MIB = 8;
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];

/**
 * SOAK_CALLS calls (default 200,000) through one gateway while sockets, event streams, waits, sessions and batches come and go. Its
 * memory is taken after a forced garbage collection, so that the load of the machine changes nothing. Prints each sample,
 * and when memory grows, of which objects there are more.
 */
it('keeps the memory of a gateway constant after its caches are full, over many calls', async () => {
  const port = await freePort();
  const toolyard = await startToolyard(() => startRedisServer({ settings: DURABLE }), '.', { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` });
  const heap = await InspectedHeap.of(port);
  const churn = new Churn(toolyard.gatewayUrl);
  const samples: HeapSample[] = [];
  let before = await heap.byConstructor();
  let run = 0;
  for (let done = 0; done < CALLS; done += CALLS_A_SAMPLE) {
    const going = churn.run();
    for (let part = 0; part < CALLS_A_SAMPLE; part += CALLS_A_RUN) run += (await runLoad(toolyard, CALLS_A_RUN, IN_FLIGHT)).callsPerSecond;
    await going();
    const sample = await heap.sample();
    samples.push(sample);
    // At once: also a run that is given up leaves figures.
    process.stderr.write(`${samples.length * CALLS_A_SAMPLE}: ${shown(sample)}\n`);
    if (samples.length === Math.ceil(CALLS / CALLS_A_SAMPLE / 2)) before = await heap.byConstructor();
  }
  console.log(
    [
      `${CALLS} calls, ${Math.round(run / (CALLS / CALLS_A_RUN))} a second, beside ${churn.count} rounds of sockets, streams, waits and batches`,
      ...grownSince(before, await heap.byConstructor()),
    ].join('\n'),
  );
  heap.close();
  await toolyard.close();
  const held = samples.map((it) => it.heap + it.external);
  const middle = held[Math.ceil(held.length / 2) - 1] ?? 0;
  expect((held.at(-1) ?? 0) - middle).toBeLessThan(GROWTH_MIB);
}, 3_600_000);

/** Clients that come and go, one after the other. */
class Churn {
  count = 0;
  private readonly agent: Agent;

  constructor(private readonly url: string) {
    this.agent = new Agent(url, KEY);
  }

  /** Runs until the returned function is called, which resolves when the last client is gone. */
  run(): () => Promise<void> {
    let over = false;
    const rounds = async () => {
      while (!over) await this.round(this.count++);
    };
    const all = Promise.all([rounds(), rounds()]);
    return async () => {
      over = true;
      await all;
    };
  }

  private async round(n: number): Promise<void> {
    const sessionId = `churn-${n}`;
    const socket = await this.agent.stream();
    socket.send({ op: 'subscribe', id: 1, filter: { sessionId } });
    await socket.frame('subscribed');
    const sse = await openSse(`${this.url}/v1/events?sessionId=${sessionId}`, KEY);
    const { body } = await this.agent.submit(
      'echo',
      { text: sessionId },
      { sessionId, toolCallId: `t-${n}` },
      { 'idempotency-key': sessionId },
    );
    await this.agent.ended(body.id);
    const calls = [
      { tool: 'echo', arguments: { text: '1' } },
      { tool: 'glob', arguments: { pattern: '*' } },
    ];
    await this.agent.request('POST', '/v1/batches', { sessionId, calls }, { prefer: 'wait=30' });
    const left = new AbortController();
    const waiting = fetch(`${this.url}/v1/calls/${body.id}/events`, { headers: { authorization: `Bearer ${KEY}` }, signal: left.signal });
    left.abort();
    await waiting.catch(() => {});
    if (n % 2 === 0) socket.socket.close();
    else socket.close();
    sse.close();
  }
}

function shown({ heap, external, resident }: HeapSample): string {
  return `heap ${heap.toFixed(1)}, external ${external.toFixed(1)}, resident ${resident.toFixed(0)} MiB`;
}

function grownSince(before: Map<string, { count: number; bytes: number }>, after: Map<string, { count: number; bytes: number }>): string[] {
  return [...after]
    .map(([name, { count, bytes }]) => ({
      name,
      count: count - (before.get(name)?.count ?? 0),
      bytes: bytes - (before.get(name)?.bytes ?? 0),
    }))
    .filter(({ bytes }) => bytes > 20_000)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, 15)
    .map(({ name, count, bytes }) => `more ${name}: ${count} (${bytes} bytes)`);
}
