import { expectThat, textOf, type Bench } from '../bench.js';
import type { CheckConnection } from '../check-connection.js';
import type { Scenario } from './scenario.js';

type Break = (bench: Bench, connection: CheckConnection) => void;

/** How a connection goes away: the socket alone, or a gateway that is down for a moment and knows no connection afterwards. */
const BREAKS: readonly { readonly name: string; readonly now: Break }[] = [
  { name: 'the connection is cut', now: (_bench, connection) => connection.cut() },
  {
    name: 'the gateway restarts',
    now: ({ server }) => {
      server.down();
      setTimeout(() => server.up(), 300);
    },
  },
];

/** Brings the call to one of these moments. */
const MOMENTS: readonly { readonly name: string; run(bench: Bench, now: (connection: CheckConnection) => void): Promise<void> }[] = [
  {
    name: 'before welcome',
    run: async (bench, now) => {
      await bench.kill();
      bench.server.policy = 'cut';
      const before = bench.server.hellos;
      try {
        bench.start();
        await bench.changes.until(
          () => bench.server.hellos > before || undefined,
          () => 'a hello',
        );
      } finally {
        bench.server.policy = 'welcome';
      }
      void now;
      await bench.settled(await bench.connection());
    },
  },
  {
    name: 'after welcome',
    run: async (bench, now) => {
      const first = await bench.connection();
      now(first);
      await bench.settled(await bench.reconnected(first));
    },
  },
  {
    name: 'while a call runs',
    run: async (bench, now) => {
      const first = await bench.connection();
      const call = await bench.call(first, 'check_sleep', { ms: 1_500 });
      await first.next('started');
      now(first);
      const second = await bench.reconnected(first);
      await second.next('renew', ({ callIds, fences }) => fences[callIds.indexOf(call.callId)] === call.fence);
      expectThat(textOf(await bench.finished(second, call)) === 'slept', 'Expected the call to go on.');
    },
  },
  {
    name: 'between updates and finish',
    run: async (bench, now) => {
      const first = await bench.connection();
      first.answers = false;
      const call = await bench.call(first, 'check_updates', { count: 20 });
      await first.next('update');
      now(first);
      const second = await bench.reconnected(first);
      expectThat(textOf(await bench.finished(second, call)) === 'done', 'Expected the call to end.');
    },
  },
  {
    name: 'after finish, before done',
    run: async (bench, now) => {
      const first = await bench.connection();
      first.answers = false;
      const call = await bench.call(first, 'check_echo', { value: 'kept' });
      await bench.finished(first, call);
      now(first);
      const second = await bench.reconnected(first);
      expectThat(textOf(await bench.finished(second, call)) === 'kept', 'Expected the same result again.');
      const { length } = second.about(call);
      await bench.settled(second);
      expectThat(second.about(call).filter(({ op }) => op === 'finish').length <= length + 1, 'Expected no more repetitions after done.');
    },
  },
  {
    name: 'after cancel',
    run: async (bench, now) => {
      const first = await bench.connection();
      first.answers = false;
      const call = await bench.call(first, 'check_sleep', { ms: 60_000 });
      await first.next('started');
      first.send({ op: 'cancel', callId: call.callId, fence: 1, reason: 'cancelled', graceMs: 5_000 });
      await bench.finished(first, call);
      now(first);
      await bench.finished(await bench.reconnected(first), call);
    },
  },
];

const broken = BREAKS.flatMap(({ name, now }) =>
  MOMENTS.filter((moment) => moment.name !== 'before welcome' || name === 'the connection is cut').map((moment): Scenario => ({
    title: `goes on when ${name} ${moment.name}`,
    fresh: true,
    run: async (bench) => moment.run(bench, (connection) => now(bench, connection)),
  })),
);

export const FAULTS: readonly Scenario[] = [
  ...broken,
  {
    title: 'waits longer and longer for a gateway that is away',
    fresh: true,
    run: async (bench) => {
      const first = await bench.connection();
      const before = bench.server.refusedConnections;
      bench.server.down();
      try {
        await new Promise((resolve) => setTimeout(resolve, 3_000));
      } finally {
        bench.server.up();
      }
      const tries = bench.server.refusedConnections - before;
      expectThat(tries <= 60, `Expected at most 60 attempts to connect in 3 s; got ${tries}.`);
      await bench.settled(await bench.reconnected(first));
    },
  },
  {
    title: 'ends with an exit code other than 0 when hello is refused',
    fresh: true,
    run: async (bench) => {
      bench.server.policy = 'refuse';
      try {
        bench.start();
        const { code, signal } = await bench.exited();
        expectThat(code !== 0, `Expected an exit code other than 0; got ${code ?? signal}.`);
      } finally {
        bench.server.policy = 'welcome';
      }
    },
  },
  {
    title: 'starts cleanly after each of three crashes in the middle of a call',
    fresh: true,
    run: async (bench) => {
      const lost: string[] = [];
      for (let n = 0; n < 3; n++) {
        const connection = await bench.connection();
        const call = await bench.call(connection, 'check_sleep', { ms: 60_000 });
        lost.push(call.callId);
        await connection.next('started', ({ callId }) => callId === call.callId);
        await bench.kill();
      }
      const last = await bench.connection();
      await bench.settled(last);
      expectThat(
        !last.received.some((frame) => frame.op === 'renew' && frame.callIds.some((id) => lost.includes(id))),
        'Expected no renew of calls that a dead process ran.',
      );
    },
  },
];
