import type { WorkerCall } from '#contracts';
import { expectThat, textOf, type Bench } from '../bench.js';
import type { CheckConnection } from '../check-connection.js';
import type { Scenario } from './scenario.js';
import { withSortedKeys } from './values.js';

const STATE = { step: 2, names: ['ä', '🙂'], nested: { empty: {}, nothing: null } };

/** Dispatches the call again, as after its suspension. */
async function expectResumed(
  bench: Bench,
  connection: CheckConnection,
  { callId, arguments: args }: WorkerCall,
  resumed: NonNullable<WorkerCall['resumed']>,
): Promise<void> {
  const again = await bench.call(connection, 'check_wait', args, { callId, fence: 2, attempt: 2, resumed });
  const text = textOf(await bench.finished(connection, again));
  const same = JSON.stringify(withSortedKeys(JSON.parse(text))) === JSON.stringify(withSortedKeys(resumed));
  expectThat(same, `Expected the tool to get ${JSON.stringify(resumed)}; it got ${text.slice(0, 500)}.`);
}

export const SUSPENSIONS: readonly Scenario[] = [
  {
    title: 'suspends a call, and runs it again when it comes back',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_suspend', { ms: 1_000 });
      const { resumeInMs } = await connection.next('suspend', ({ callId }) => callId === call.callId);
      expectThat(resumeInMs === 1_000, `Expected resumeInMs 1000; got ${resumeInMs}.`);
      const again = await bench.call(connection, 'check_suspend', { ms: 1_000 }, { callId: call.callId, fence: 2, attempt: 2 });
      expectThat(textOf(await bench.finished(connection, again)) === 'resumed', 'Expected the text resumed.');
    },
  },
  {
    title: 'suspends a call until input, with prompt, schema and state, and gives the value to the tool',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_wait', { until: 'input', state: STATE });
      const frame = await connection.next('suspend', ({ callId }) => callId === call.callId);
      expectThat(frame.until === 'input', `Expected until input; got ${frame.until ?? 'nothing'}.`);
      expectThat(frame.prompt === 'Which value?', `Expected the prompt "Which value?"; got ${frame.prompt ?? 'none'}.`);
      expectThat(JSON.stringify(frame.inputSchema) === '{"type":"string"}', 'Expected the schema {"type":"string"}.');
      expectThat(
        JSON.stringify(withSortedKeys(frame.state)) === JSON.stringify(withSortedKeys(STATE)),
        `Expected the state ${JSON.stringify(STATE)}; got ${JSON.stringify(frame.state)}.`,
      );
      await expectResumed(bench, connection, call, { reason: 'input', state: STATE, input: 'a value' });
    },
  },
  {
    title: 'suspends a call until its children end, and goes on with its state',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_wait', { until: 'children', state: [1, 'two'] });
      const { until, prompt } = await connection.next('suspend', ({ callId }) => callId === call.callId);
      expectThat(until === 'children', `Expected until children; got ${until ?? 'nothing'}.`);
      expectThat(prompt === undefined, 'Expected no prompt.');
      await expectResumed(bench, connection, call, { reason: 'woken', state: [1, 'two'] });
    },
  },
  {
    title: 'repeats suspend until it is answered, also on a new connection, and frees the slot then',
    run: async (bench) => {
      const before = await bench.connection();
      before.answers = false;
      const call = await bench.call(before, 'check_wait', { until: 'children', state: null });
      const ofCall = ({ callId }: { readonly callId: string }) => callId === call.callId;
      const first = await before.next('suspend', ofCall);
      before.cut();
      const connection = await bench.reconnected(before);
      const again = await connection.next('suspend', ofCall);
      expectThat(JSON.stringify(withSortedKeys(first)) === JSON.stringify(withSortedKeys(again)), 'Expected the same frame again.');
      await bench.settled(connection);
      await bench.settled(connection);
      const later = connection.about(call).filter(({ op }) => op === 'suspend').length;
      await bench.settled(connection);
      expectThat(connection.about(call).filter(({ op }) => op === 'suspend').length === later, 'Expected no suspend after done.');
    },
  },
];
