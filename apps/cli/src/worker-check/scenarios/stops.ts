import { expectThat, textOf, type Attempt, type Bench } from '../bench.js';
import type { CheckConnection } from '../check-connection.js';
import { CHECK_LEASE_MS } from '../check-server.js';
import type { Scenario } from './scenario.js';

/** `stale` was sent: nothing more may come about the attempt. */
async function silentAbout(bench: Bench, connection: CheckConnection, call: Attempt): Promise<void> {
  await bench.settled(connection);
  const before = connection.about(call).length;
  await bench.settled(connection);
  const later = connection
    .about(call)
    .slice(before)
    .map(({ op }) => op);
  expectThat(later.length === 0, `Expected nothing about a call after stale; got ${later.join(', ')}.`);
}

const started = (connection: CheckConnection, { callId }: Attempt) => connection.next('started', (frame) => frame.callId === callId);
const renewed = (connection: CheckConnection, { callId, fence }: Attempt) =>
  connection.next('renew', ({ callIds, fences }) => fences[callIds.indexOf(callId)] === fence);

export const STOPS: readonly Scenario[] = [
  {
    title: 'stops a tool that heeds cancel, and finishes within the grace',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_sleep', { ms: 60_000 });
      await started(connection, call);
      connection.send({ op: 'cancel', callId: call.callId, fence: 1, reason: 'cancelled', graceMs: 5_000 });
      await bench.finished(connection, call);
    },
  },
  {
    title: 'takes other calls while a tool ignores cancel, and says nothing about it after stale',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_sleep', { ms: 1_500, ignoreCancel: true });
      await started(connection, call);
      connection.send({ op: 'cancel', callId: call.callId, fence: 1, reason: 'cancelled', graceMs: 100 });
      connection.makeStale(call);
      await silentAbout(bench, connection, call);
    },
  },
  {
    title: 'stops at the deadline',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_sleep', { ms: 60_000 }, { deadlineMs: 300 });
      await started(connection, call);
      connection.send({ op: 'cancel', callId: call.callId, fence: 1, reason: 'run_timeout', graceMs: 5_000 });
      await bench.finished(connection, call);
    },
  },
  {
    title: 'runs a call with a deadline when the clock of the gateway is ten minutes off',
    run: async (bench) => {
      bench.server.clockMs = 600_000;
      try {
        const connection = await bench.connection();
        const call = await bench.call(connection, 'check_sleep', { ms: 50 }, { deadlineMs: 30_000 });
        expectThat(textOf(await bench.finished(connection, call)) === 'slept', 'Expected the call to complete.');
      } finally {
        bench.server.clockMs = 0;
      }
    },
  },
  {
    title: 'renews a running call within its lease',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_sleep', { ms: 60_000 });
      await renewed(connection, call);
      const before = performance.now();
      await renewed(connection, call);
      const took = performance.now() - before;
      expectThat(took < CHECK_LEASE_MS, `Expected renew within ${CHECK_LEASE_MS} ms; it took ${Math.round(took)} ms.`);
      connection.send({ op: 'cancel', callId: call.callId, fence: 1, reason: 'cancelled', graceMs: 5_000 });
      await bench.finished(connection, call);
    },
  },
  {
    title: 'stops a call when renew is answered by stale',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_sleep', { ms: 60_000 });
      await renewed(connection, call);
      connection.makeStale(call);
      await silentAbout(bench, connection, call);
    },
  },
  {
    title: 'gives up a call that was lost while the process was paused',
    fresh: true,
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_sleep', { ms: 100 });
      await started(connection, call);
      bench.worker?.signal('SIGSTOP');
      connection.makeStale(call);
      await new Promise((resolve) => setTimeout(resolve, CHECK_LEASE_MS));
      bench.worker?.signal('SIGCONT');
      await silentAbout(bench, await bench.connection(), call);
    },
  },
  {
    title: 'runs a newer attempt of a call beside the old one, and gives up the old one',
    run: async (bench) => {
      const connection = await bench.connection();
      const old = await bench.call(connection, 'check_sleep', { ms: 300, ignoreCancel: true });
      await started(connection, old);
      const newer = await bench.call(connection, 'check_echo', { value: 'second' }, { callId: old.callId, fence: 2, attempt: 2 });
      connection.makeStale(old);
      expectThat(textOf(await bench.finished(connection, newer)) === 'second', 'Expected the result of the newer attempt.');
      await silentAbout(bench, connection, old);
    },
  },
  {
    title: 'runs a call once that is sent twice',
    run: async (bench) => {
      const connection = await bench.connection();
      const before = Number(textOf(await bench.run(connection, 'check_count', {})));
      connection.answers = false;
      const call = await bench.call(connection, 'check_count', {});
      connection.send(call);
      await bench.finished(connection, call);
      connection.send(call);
      connection.answers = true;
      connection.done(call);
      const after = Number(textOf(await bench.run(connection, 'check_count', {})));
      expectThat(after === before + 2, `Expected the tool to run once; it ran ${after - before - 1} times.`);
    },
  },
  {
    title: 'repeats finish unchanged until it is answered, and not after that',
    run: async (bench) => {
      const connection = await bench.connection();
      connection.answers = false;
      const call = await bench.call(connection, 'check_echo', { value: 'again' });
      const isOfCall = ({ callId }: Attempt) => callId === call.callId;
      const first = await connection.next('finish', isOfCall);
      const second = await connection.next('finish', isOfCall);
      expectThat(JSON.stringify(first) === JSON.stringify(second), 'Expected the same frame again.');
      connection.answers = true;
      connection.done(call);
      await silentAbout(bench, connection, call);
    },
  },
  {
    title: 'ignores frames about calls that it does not have, and frames of newer gateways',
    run: async (bench) => {
      const connection = await bench.connection();
      const about = { callId: bench.callId(), fence: 3 };
      for (const op of ['cancel', 'stale', 'done']) connection.send({ op, ...about, reason: 'cancelled', graceMs: 0 });
      connection.send({ op: 'of_a_newer_gateway', value: 1 });
      await bench.settled(connection);
      expectThat(connection.about(about).length === 0, 'Expected no frame about an unknown call.');
    },
  },
];
