import { CHECK_SLOTS, expectThat, poolOf, textOf, type Bench } from '../bench.js';
import type { CheckConnection } from '../check-connection.js';
import { CHECK_LEASE_MS } from '../check-server.js';
import type { Scenario } from './scenario.js';

const creditOf = (connection: CheckConnection) => connection.credit.get(poolOf(connection, 'check_sleep')) ?? 0;

/** Waits until no call runs and all credit is back. */
async function creditIs(bench: Bench, connection: CheckConnection, wanted: number): Promise<void> {
  await bench.changes.until(
    () => (creditOf(connection) === wanted ? true : undefined),
    () => `credit ${wanted} when no call runs; it is ${creditOf(connection)}`,
  );
}

export const CAPACITY: readonly Scenario[] = [
  {
    title: `runs ${CHECK_SLOTS} calls at the same time (TOOLYARD_SLOTS), and gives their credit back`,
    fresh: true,
    run: async (bench) => {
      const connection = await bench.connection();
      await creditIs(bench, connection, CHECK_SLOTS);
      const calls = [];
      while (calls.length < CHECK_SLOTS) calls.push(await bench.call(connection, 'check_sleep', { ms: 60_000 }));
      for (const { callId } of calls)
        await bench.changes.until(
          () => connection.received.some((frame) => frame.op === 'started' && frame.callId === callId) || undefined,
          () => `${CHECK_SLOTS} calls to be started`,
        );
      expectThat(creditOf(connection) === 0, `Expected no credit while all slots are in use; it is ${creditOf(connection)}.`);
      for (const { callId } of calls) connection.send({ op: 'cancel', callId, fence: 1, reason: 'cancelled', graceMs: 5_000 });
      await Promise.all(calls.map((call) => bench.finished(connection, call)));
      await creditIs(bench, connection, CHECK_SLOTS);
    },
  },
  {
    title: 'gives no credit beyond its slots while it waits',
    fresh: true,
    run: async (bench) => {
      const connection = await bench.connection();
      await creditIs(bench, connection, CHECK_SLOTS);
      await new Promise((resolve) => setTimeout(resolve, CHECK_LEASE_MS));
      expectThat(creditOf(connection) <= CHECK_SLOTS, `Expected credit ${CHECK_SLOTS}; got ${creditOf(connection)}.`);
      await bench.settled(connection);
    },
  },
  {
    title: 'gives credit again after a reconnect, less the calls that run',
    fresh: true,
    run: async (bench) => {
      const first = await bench.connection();
      await creditIs(bench, first, CHECK_SLOTS);
      const call = await bench.call(first, 'check_sleep', { ms: 60_000 });
      await first.next('started');
      first.cut();
      const second = await bench.reconnected(first);
      await creditIs(bench, second, CHECK_SLOTS - 1);
      second.send({ op: 'cancel', callId: call.callId, fence: 1, reason: 'cancelled', graceMs: 5_000 });
      await bench.finished(second, call);
      await creditIs(bench, second, CHECK_SLOTS);
    },
  },
  {
    title: 'leaves the connection when the gateway drains: running calls end, then bye, then hello again',
    fresh: true,
    run: async (bench) => {
      const first = await bench.connection();
      const call = await bench.call(first, 'check_sleep', { ms: 300 });
      await first.next('started');
      first.send({ op: 'drain' });
      expectThat(textOf(await bench.finished(first, call)) === 'slept', 'Expected the running call to complete.');
      await first.next('bye');
      await bench.settled(await bench.reconnected(first));
    },
  },
  {
    title: 'drains after SIGTERM: running calls end, then bye, then exit code 0',
    fresh: true,
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_sleep', { ms: 500 });
      await connection.next('started');
      bench.worker?.signal('SIGTERM');
      await connection.next('drain');
      expectThat(textOf(await bench.finished(connection, call)) === 'slept', 'Expected the running call to complete.');
      await connection.next('bye');
      const { code, signal } = await bench.exited();
      expectThat(code === 0, `Expected exit code 0; got ${code ?? signal}.`);
    },
  },
  {
    title: 'announces a tool that is added and one that is removed',
    run: async (bench) => {
      const connection = await bench.connection();
      await bench.run(connection, 'check_tools', { add: true });
      await connection.next('tools', ({ added, changed }) => [...added, ...changed].some(({ name }) => name === 'check_added'));
      expectThat(textOf(await bench.run(connection, 'check_added', {})) === 'added', 'Expected the new tool to run.');
      await bench.run(connection, 'check_tools', { add: false });
      await connection.next('tools', ({ removed }) => removed.includes('check_added'));
    },
  },
  {
    title: 'answers ping by pong (WebSocket only)',
    run: async (bench) => {
      const connection = await bench.connection();
      connection.send({ op: 'ping' });
      if (connection.transport.kind === 'websocket') await connection.next('pong');
      await bench.settled(connection);
    },
  },
  {
    title: 'runs its other tools when the gateway left some out',
    fresh: true,
    run: async (bench) => {
      bench.server.leftOut = ['check_fail', 'check_big'];
      try {
        await bench.settled(await bench.connection());
      } finally {
        bench.server.leftOut = [];
      }
    },
  },
];
