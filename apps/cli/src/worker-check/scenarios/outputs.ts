import { z } from 'zod';
import { WORKER_LIMITS } from '#contracts';
import { expectThat, textOf, type Bench } from '../bench.js';
import type { Scenario } from './scenario.js';

const BIG = 3_000_000;
const SECRETS = { API_TOKEN: 'a token "quoted" ✓', OTHER: 'another' };

/** Runs `check_big` and returns the output sent beside its finish. */
async function sent(bench: Bench, bytes: number) {
  const connection = await bench.connection();
  const call = await bench.call(connection, 'check_big', { bytes });
  const { output, content = [], outcome, error } = await bench.finished(connection, call);
  expectThat(outcome === 'completed', `Expected the call to complete; it failed: ${error?.message ?? 'without a reason'}`);
  expectThat(output !== undefined, 'Expected finish with the field output.');
  expectThat(content.length === 0, 'Expected the text to be sent once: no content besides output.');
  const stored = bench.server.outputs.findLast(({ callId }) => callId === call.callId);
  expectThat(stored !== undefined, `Expected PUT /v1/calls/${call.callId}/output before finish.`);
  return { connection, call, output, stored };
}

async function contextOf(bench: Bench, more: Parameters<Bench['call']>[3]): Promise<Record<string, unknown>> {
  const connection = await bench.connection();
  const finished = await bench.finished(connection, await bench.call(connection, 'check_context', {}, more));
  return z.record(z.string(), z.unknown()).parse(JSON.parse(textOf(finished)));
}

export const OUTPUTS: readonly Scenario[] = [
  {
    title: 'sends a result that is larger than a frame beside it, with worker and fence, and names it in finish',
    run: async (bench) => {
      const { connection, call, output, stored } = await sent(bench, BIG);
      expectThat(
        output.sha256 === stored.sha256 && output.bytes === BIG,
        `Expected output to be the answer; got ${JSON.stringify(output)}.`,
      );
      expectThat(stored.fence === String(call.fence), `Expected fence ${call.fence}; got ${stored.fence ?? 'none'}.`);
      expectThat(stored.worker === connection.hello.worker, `Expected worker ${connection.hello.worker}; got ${stored.worker ?? 'none'}.`);
    },
  },
  {
    title: 'sends an output again when its request is cut',
    run: async (bench) => {
      bench.server.cutOutputs = 2;
      await sent(bench, BIG);
      expectThat(bench.server.cutOutputs === 0, 'Expected the output to be sent three times.');
    },
  },
  {
    title: 'gives up an output that is answered by 409, and goes on',
    run: async (bench) => {
      const connection = await bench.connection();
      bench.server.refuseOutputs = true;
      try {
        const { outcome, output } = await bench.run(connection, 'check_big', { bytes: BIG });
        expectThat(outcome === 'failed' && output === undefined, `Expected the outcome failed without output; got ${outcome}.`);
      } finally {
        bench.server.refuseOutputs = false;
      }
      await bench.settled(connection);
    },
  },
  {
    title: 'fails a call whose result is larger than an output, and stays connected',
    run: async (bench) => {
      const connection = await bench.connection();
      const { outcome } = await bench.run(connection, 'check_big', { bytes: WORKER_LIMITS.outputBytes + 1 });
      expectThat(outcome === 'failed', `Expected the outcome failed; got ${outcome}.`);
      await bench.settled(connection);
    },
  },
  {
    title: 'gives a tool session, workspace and secrets of its call',
    run: async (bench) => {
      const given = { session: 'demo', workspace: '/work/default/sessions/demo', secrets: SECRETS };
      const got = await contextOf(bench, given);
      for (const name of ['session', 'workspace', 'secrets'] as const)
        expectThat(
          JSON.stringify(got[name]) === JSON.stringify(given[name]),
          `Expected ${name} ${JSON.stringify(given[name])}; got ${JSON.stringify(got[name])}.`,
        );
    },
  },
  {
    title: 'gives a tool no secrets of another call',
    run: async (bench) => {
      await contextOf(bench, { secrets: SECRETS });
      const { secrets } = await contextOf(bench, {});
      expectThat(JSON.stringify(secrets) === '{}', `Expected no secrets; got ${JSON.stringify(secrets)}.`);
    },
  },
];
