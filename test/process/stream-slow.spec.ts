import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect as dial } from 'node:net';
import { CLOSE_CODES, type CallEventType } from '#contracts';
import { createRedis, type RedisConnection } from '#redis';
import { Stream } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { appendRaw, rawCallId } from '../support/raw-log.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';

const TENANT = 'e2e-stream-slow';
/** More than the socket buffers of both ends take on loopback. */
const FLOOD = 6000;
/** 2 MB: less than any reader is allowed to be behind. */
const STEP = 500;

let server: RedisServer;
let redis: RedisConnection;
let gateway: TestGateway;

beforeAll(async () => {
  server = await startRedisServer();
  redis = createRedis(server.url);
  gateway = await startTestGateway(TENANT, { redisUrl: server.url });
});
afterAll(async () => {
  await gateway.close();
  redis.disconnect();
  await server.stop();
});

async function append(count: number, type: CallEventType, callId: string): Promise<number[]> {
  const data = { text: 'x'.repeat(4096) };
  const seqs: number[] = [];
  for (let done = 0; done < count; done += 100) {
    const some = Math.min(100, count - done);
    seqs.push(
      ...(await Promise.all(
        Array.from({ length: some }, () => appendRaw(redis, { callId, type, tenantId: TENANT, agentId: callId, data })),
      )),
    );
  }
  return seqs;
}

async function subscribed(filter: object, cursor?: string): Promise<Stream> {
  const stream = new Stream(gateway.url, BOOTSTRAP_KEY);
  await stream.opened;
  stream.send({ op: 'subscribe', id: 1, filter, batch: true, ...(cursor === undefined ? {} : { cursor }) });
  await stream.frame('subscribed', 1);
  return stream;
}

const seqOf = ({ event }: { event: { id: string } }) => Number(event.id.split('.')[2]);

/** Another reader of the same, that shows when the gateway has handed everything on. */
async function until(witness: Stream, seq: number | undefined): Promise<void> {
  await eventually(() => {
    if (witness.closed) throw new Error(`the quick reader was closed: ${JSON.stringify(witness.closed)}`);
    return witness.events(1).some((item) => seqOf(item) === seq);
  }, 'the quick reader to have everything');
}

/** Appends so that the witness keeps up: on a busy machine it would become a slow reader itself. */
async function flood(witness: Stream, type: CallEventType, callId: string): Promise<number[]> {
  const seqs: number[] = [];
  while (seqs.length < FLOOD) {
    seqs.push(...(await append(STEP, type, callId)));
    await until(witness, seqs.at(-1));
  }
  return seqs;
}

describe('a socket that does not read', () => {
  it('sends a socket that does not read gaps for Updates and every lifecycle event, without delaying a fast reader', async () => {
    const callId = rawCallId(3);
    const [slow, quick] = [await subscribed({ agentId: callId }), await subscribed({ agentId: callId })];
    slow.socket.pause();
    const updates = await flood(quick, 'call.update', callId);
    const lifecycle = [...(await append(1, 'call.retry', callId)), ...(await append(1, 'call.start', callId))];
    const more = await append(200, 'call.update', callId);
    const [end] = await append(1, 'call.end', callId);
    await until(quick, end);
    slow.socket.resume();
    await eventually(() => slow.events(1).some((item) => seqOf(item) === end), 'the End');

    const got = slow.events(1).map(seqOf);
    const gaps = slow.frames.flatMap(({ frame }) => (frame.op === 'gap' ? [frame] : []));
    expect(got).toEqual([...got].sort((a, b) => a - b));
    expect(got).toEqual(expect.arrayContaining([...lifecycle, end]));
    const missing = [...updates, ...more].filter((seq) => !got.includes(seq));
    expect(missing.length).toBeGreaterThan(0);
    expect(gaps.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(missing.length);
    for (const seq of missing) expect(gaps.some(({ fromSeq, toSeq }) => fromSeq <= seq && seq <= toSeq)).toBe(true);
    expect(quick.events(1).map(seqOf)).toEqual([...updates, ...lifecycle, ...more, end]);
    slow.close();
    quick.close();
  });

  it('closes a socket that does not read with 4008 and its cursor when even lifecycle events are too many', async () => {
    const wide = { types: ['call.retry'] };
    const [slow, quick] = [await subscribed(wide), await subscribed(wide)];
    slow.socket.pause();
    const all = await flood(quick, 'call.retry', rawCallId(0));
    slow.socket.resume();
    const closed = await eventually(() => slow.closed, 'the close');
    expect(closed.code).toBe(CLOSE_CODES.slowConsumer);
    const cursor = closed.reason.replace('cursor=', '');
    expect(cursor).toBe(slow.events(1).at(-1)?.cursor);

    const again = await subscribed(wide, cursor);
    await eventually(() => again.events(1).some((item) => seqOf(item) === all.at(-1)), 'the rest');
    expect([...slow.events(1), ...again.events(1)].map(seqOf)).toEqual(all);
    again.close();
    quick.close();
  });
});

describe('an event stream whose reader does not read', () => {
  it('ends an event stream whose reader falls too far behind, within the memory limits of the process', async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = dial(Number(port), hostname);
    socket.on('error', () => {});
    const quick = await subscribed({ types: ['call.retry'] });
    socket.write(
      `GET /v1/events?types=call.retry HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\nAuthorization: Bearer ${BOOTSTRAP_KEY}\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    await flood(quick, 'call.retry', rawCallId(1));
    let received = '';
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (chunk) => (received += String(chunk)));
    socket.resume();
    await closed;
    expect(received).toContain('event: call.retry');
    expect(received.match(/^event: call\.retry$/gm)?.length).toBeLessThan(FLOOD);
    quick.close();
  });
});
