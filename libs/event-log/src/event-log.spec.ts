import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, connect, type Server, type Socket } from 'node:net';
import {
  CallStore,
  EventLog,
  EventLogFull,
  EventLogUnavailable,
  EventLogUnreplicated,
  isApplied,
  NO_UPDATES,
  UpdatesDigest,
  type EventLogOptions,
} from '#event-log';
import { createRedis, keys, type RedisConnection } from '#redis';
import { telemetry } from '#observability';
import { eventually } from '../../../test/support/eventually.js';
import { checkInvariants } from '../../../test/support/log-invariants.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { aCall, aSubmission, author, endOf } from '../../../test/support/sample-calls.js';

/** TCP proxy that can drop answers of Redis and break its connections: the client then does not know the outcome. */
class Wire {
  private readonly sockets = new Set<Socket>();
  swallowsAnswers = false;
  onSwallowed: () => void = () => {};

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async to(port: number): Promise<Wire> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const wire = new Wire(server, `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`);
    server.on('connection', (client) => wire.join(client, connect(port, '127.0.0.1')));
    return wire;
  }

  private join(client: Socket, redis: Socket): void {
    for (const socket of [client, redis]) {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => [client, redis].forEach((each) => each.destroy()));
    }
    client.on('data', (data) => redis.write(data));
    redis.on('data', (data) => (this.swallowsAnswers ? this.onSwallowed() : client.write(data)));
  }

  break(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  async close(): Promise<void> {
    this.break();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('the event log over a bad connection', () => {
  let server: RedisServer;
  let wire: Wire;
  let redis: RedisConnection;
  let direct: RedisConnection;

  beforeEach(async () => {
    server = await startRedisServer();
    wire = await Wire.to(server.port);
    redis = createRedis(wire.url);
    direct = createRedis(server.url);
  });
  afterEach(async () => {
    redis.disconnect();
    direct.disconnect();
    await wire.close();
    await server.stop();
  });

  /** Drops the next answers of Redis and breaks the connection, then restores it. */
  const losingTheAnswer = async <T>(write: () => Promise<T>): Promise<T> => {
    const swallowed = new Promise<void>((resolve) => (wire.onSwallowed = resolve));
    wire.swallowsAnswers = true;
    const answer = write();
    await swallowed;
    wire.swallowsAnswers = false;
    wire.break();
    return answer;
  };

  it('applies each transition once when its answer is lost and it is sent again', async () => {
    const log = await EventLog.open(redis, { partitions: 4 });
    // Loads the scripts first, or the lost answer would be NOSCRIPT.
    const [before, callId] = [log.newCallId('acme'), log.newCallId('acme')];
    await log.accept(aCall(before));
    await log.end({ callId: before, guard: { by: 'command', version: 1, commandId: 'c' }, data: endOf('cancelled'), author });

    expect(await losingTheAnswer(() => log.accept(aCall(callId)))).toMatchObject({ code: 'REPLAY', version: 1 });
    const claimed = await losingTheAnswer(() => log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author }));
    expect(claimed).toMatchObject({ code: 'REPLAY', attempt: 1, fence: 1, submitted: { tool: 'echo' } });
    const digest = new UpdatesDigest(NO_UPDATES);
    const updates = await losingTheAnswer(() =>
      Promise.all(
        [1, 2, 3].map((writeSeq) =>
          log.update({
            callId,
            guard: { by: 'worker', fence: 1, writeSeq },
            data: { update: writeSeq, content: [] },
            updates: digest.add('[]'),
            author,
          }),
        ),
      ),
    );
    expect(updates.map(isApplied)).toEqual([true, true, true]);
    const guard = { by: 'command', version: 5, commandId: 'stop' } as const;
    expect(await losingTheAnswer(() => log.requestCancel({ callId, guard, data: { graceMs: 1_000 }, author }))).toMatchObject({
      code: 'REPLAY',
      version: 6,
    });
    const ended = await losingTheAnswer(() =>
      log.end({ callId, guard: { by: 'worker', fence: 1, writeSeq: 4 }, data: endOf('cancelled'), author }),
    );
    expect(ended).toMatchObject({ code: 'REPLAY', version: 7 });
    expect((await new CallStore(direct).events(callId)).map(({ type }) => type)).toEqual([
      'call.submitted',
      'call.start',
      'call.update',
      'call.update',
      'call.update',
      'call.cancel_requested',
      'call.end',
    ]);
    expect(await checkInvariants(direct, 4, { atRest: true })).toEqual([]);
  });

  it('keeps every accepted call across a kill of Redis under load', async () => {
    await server.stop();
    server = await startRedisServer({ port: server.port, settings: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    const log = await EventLog.open(redis, { partitions: 4 });
    const store = new CallStore(direct);
    const accepted = Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        if (index % 100 === 50) await new Promise((resolve) => setImmediate(resolve));
        const callId = log.newCallId('acme');
        const answer = await log.accept(aCall(callId));
        return isApplied(answer) ? callId : undefined;
      }),
    );
    await server.kill();
    await server.start();
    const ids = await accepted;
    expect(ids).not.toContain(undefined);
    const calls = await store.readMany(ids.map((id) => id ?? ''));
    expect(calls.map((call) => call?.status)).toEqual(ids.map(() => 'queued'));
    expect(await checkInvariants(direct, 4)).toEqual([]);
  });

  it('fails with EventLogUnavailable after the deadline of a transition, and works again afterwards', async () => {
    const log = await EventLog.open(redis, { partitions: 4, deadlineMs: 150 });
    await server.kill();
    const startedAt = performance.now();
    const submitted = aSubmission({ argumentsRef: { ref: 'arguments', sha256: 'x', bytes: 2, preview: '{}' } });
    await expect(log.accept(aCall(log.newCallId('acme')))).rejects.toThrow(EventLogUnavailable);
    await expect(log.accept(aCall(log.newCallId('acme'), { submitted, argumentsBlob: '{}' }))).rejects.toThrow(EventLogUnavailable);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await server.start();
    await direct.ping();
    const answered = async (): Promise<boolean> => log.accept(aCall(log.newCallId('acme'))).then(isApplied, () => false);
    await eventually(answered, 'the log to come back');
  });

  it('refuses new calls above maxmemory, and finishes running ones', async () => {
    const log = await EventLog.open(redis, { partitions: 4 });
    const [running, waiting] = [log.newCallId('acme'), log.newCallId('acme')];
    await Promise.all([running, waiting].map((callId) => log.accept(aCall(callId))));
    await log.claim({ callId: running, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    await direct.call('CONFIG', 'SET', 'maxmemory', '1');
    await expect(log.accept(aCall(log.newCallId('acme')))).rejects.toThrow(EventLogFull);
    const submitted = aSubmission({ argumentsRef: { ref: 'arguments', sha256: 'x', bytes: 2, preview: '{}' } });
    await expect(log.accept(aCall(log.newCallId('acme'), { submitted, argumentsBlob: '{}' }))).rejects.toThrow(EventLogFull);
    expect(
      await log.end({ callId: running, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data: endOf('completed'), author }),
    ).toMatchObject({
      code: 'OK',
    });
    expect(await log.claim({ callId: waiting, attempt: 1, leaseMs: 60_000, worker: 'w', author })).toMatchObject({ code: 'OK' });
    await direct.call('CONFIG', 'SET', 'maxmemory', '0');
    expect(isApplied(await log.accept(aCall(log.newCallId('acme'))))).toBe(true);
  });

  it('answers the other transitions of a run when the snapshot of one call is broken', async () => {
    const log = await EventLog.open(redis, { partitions: 1 });
    const [broken, whole] = [log.newCallId('acme'), log.newCallId('acme')];
    await Promise.all([broken, whole].map((callId) => log.accept(aCall(callId))));
    await direct.set(keys.call(broken), 'x');
    const claims = [broken, whole].map((callId) => log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author }));
    await expect(claims[0]).rejects.toThrow(/cannot be read/);
    expect(await claims[1]).toMatchObject({ code: 'OK' });
  });

  const waits = async () => Number(/cmdstat_wait:calls=(\d+)/.exec(await direct.info('commandstats'))?.[1] ?? 0);

  it('answers durable writes only when a replica has them', async () => {
    const options: EventLogOptions = { partitions: 1, durability: 'replicated', replicaTimeoutMs: 20 };
    const log = await EventLog.open(redis, options);
    let answered = false;
    const accepted = log.accept(aCall(log.newCallId('acme'))).finally(() => (answered = true));
    await eventually(async () => (await waits()) >= 3, 'the third WAIT');
    expect(answered).toBe(false);
    const replica = await startRedisServer({
      settings: ['--save', '', '--appendonly', 'no', '--replicaof', '127.0.0.1', String(server.port)],
    });
    expect(await accepted).toMatchObject({ code: 'OK', version: 1 });
    await replica.stop();
  });

  it('begins a call with effect once only after a replica has its Start, and others at once', async () => {
    const local = await EventLog.open(redis, { partitions: 1 });
    const log = await EventLog.open(redis, { partitions: 1, durability: 'replicated', replicaTimeoutMs: 20 });
    const callOf = (effect: 'once' | 'pure') => aCall(log.newCallId('acme'), { submitted: aSubmission({ effect }) });
    const [once, pure] = [callOf('once'), callOf('pure')];
    await Promise.all([local.accept(once), local.accept(pure)]);
    const claim = ({ callId }: typeof once) => log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    let begun = false;
    const claimed = claim(once).finally(() => (begun = true));
    expect(await claim(pure)).toMatchObject({ code: 'OK', attempt: 1 });
    await eventually(async () => (await waits()) >= 3, 'the third WAIT');
    expect(begun).toBe(false);
    const replica = await startRedisServer({
      settings: ['--save', '', '--appendonly', 'no', '--replicaof', '127.0.0.1', String(server.port)],
    });
    expect(await claimed).toMatchObject({ attempt: 1, fence: 1 });
    await replica.stop();
    await Promise.all([log.close(), local.close()]);
  });

  it('reports a missing replica after the deadline', async () => {
    const log = await EventLog.open(redis, { partitions: 1, durability: 'replicated', replicaTimeoutMs: 20, deadlineMs: 2_000 });
    await expect(log.accept(aCall(log.newCallId('acme')))).rejects.toThrow(EventLogUnreplicated);
    await log.close();
  });

  it('sends the transitions of one tick in one script, and reports submissions, ends and rejections', async () => {
    const log = await EventLog.open(redis, { partitions: 4 });
    const reports: unknown[] = [];
    const runs: number[] = [];
    const stops = [
      telemetry.callSubmitted.on((facts) => reports.push(['submitted', facts])),
      telemetry.callEnded.on((facts) => reports.push(['ended', facts])),
      telemetry.retried.on((facts) => reports.push(['retried', facts])),
      telemetry.transitionRefused.on((facts) => reports.push(['refused', facts])),
      telemetry.scriptRun.on(({ transitions }) => runs.push(transitions)),
    ];
    const ids = Array.from({ length: 40 }, () => log.newCallId('acme'));
    await Promise.all(ids.map((callId) => log.accept(aCall(callId))));
    const [callId = ''] = ids;
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    await log.retry({
      callId,
      guard: { by: 'worker', fence: 1, writeSeq: 1 },
      data: { reason: 'tool_failed', nextAttempt: 2, delayMs: 0 },
      countsAsFailure: true,
      author,
    });
    await log.end({ callId, guard: { by: 'command', version: 3, commandId: 'c' }, data: endOf('cancelled'), author });
    await log.end({ callId, guard: { by: 'command', version: 3, commandId: 'd' }, data: endOf('cancelled'), author });
    for (const stop of stops) stop();
    expect(runs[0]).toBe(40);
    expect(reports.slice(0, 40)).toEqual(ids.map(() => ['submitted', { tool: 'echo', pool: 'read' }]));
    expect(reports.slice(40)).toEqual([
      ['retried', { tool: 'echo', reason: 'tool_failed' }],
      ['ended', { tool: 'echo', outcome: 'cancelled', code: 'internal' }],
      ['refused', { transition: 'end', code: 'ENDED' }],
    ]);
  });

  it('closes the event log twice without harm, and refuses later transitions', async () => {
    const log = await EventLog.open(wire.url, { partitions: 4 });
    await log.close();
    await log.close();
    await expect(log.accept(aCall(log.newCallId('acme')))).rejects.toThrow(EventLogUnavailable);
  });
});
