import { expectThat, poolOf, textOf, type Bench } from '../bench.js';
import type { Scenario } from './scenario.js';

export const CHECK_TOOLS = [
  'check_echo',
  'check_sleep',
  'check_updates',
  'check_fail',
  'check_big',
  'check_suspend',
  'check_wait',
  'check_context',
  'check_count',
  'check_tools',
] as const;

const UNICODE = 'Grüße 你好 🧑‍🚀👩🏽‍💻 \u202Ertl\u202C e\u0301 \u2028\u2029 \u0000 \uFFFD "quoted" \\back\\ tab\t end';
const KINDS = { text: '', list: [1, -0.5, 1e21, true, null, { a: [] }], nothing: null, deep: { a: { b: { c: 'd' } } } };

const echoes = async (bench: Bench, value: string): Promise<void> => {
  const text = textOf(await bench.run(await bench.connection(), 'check_echo', { value }));
  expectThat(text === value, `Expected ${JSON.stringify(value.slice(0, 80))}; got ${JSON.stringify(text.slice(0, 80))}.`);
};

export const VALUES: readonly Scenario[] = [
  {
    title: 'says hello with a valid frame and announces all test tools',
    run: async (bench) => {
      const { hello } = await bench.connection();
      const missing = CHECK_TOOLS.filter((name) => !hello.tools.some((tool) => tool.name === name));
      expectThat(missing.length === 0, `Expected the tools ${CHECK_TOOLS.join(', ')}; ${missing.join(', ')} are missing.`);
      const wrong = hello.tools.filter(({ input }) => !JSON.stringify(input).includes('"type":"object"')).map(({ name }) => name);
      expectThat(wrong.length === 0, `Expected JSON Schemas of the type object; those of ${wrong.join(', ')} are not.`);
    },
  },
  {
    title: 'gives credit for each pool of its tools after welcome',
    run: async (bench) => {
      const connection = await bench.connection();
      for (const pool of new Set(CHECK_TOOLS.map((tool) => poolOf(connection, tool))))
        await bench.changes.until(
          () => connection.credit.get(pool) || undefined,
          () => `credit for the pool ${pool}`,
        );
    },
  },
  {
    title: 'runs a call: started, then finish as completed, with the same callId and fence',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_echo', { value: 'hello' }, { fence: 7 });
      expectThat(textOf(await bench.finished(connection, call)) === 'hello', 'Expected the text hello.');
      const ops = connection.about(call).map(({ op }) => op);
      expectThat(ops[0] === 'started', `Expected started as the first frame about the call; got ${ops.join(', ')}.`);
    },
  },
  { title: 'returns Unicode as it came', run: (bench) => echoes(bench, UNICODE) },
  {
    title: 'reads arguments of every kind of JSON',
    run: async (bench) => {
      const text = textOf(await bench.run(await bench.connection(), 'check_echo', { value: KINDS }));
      const same = JSON.stringify(withSortedKeys(JSON.parse(text))) === JSON.stringify(withSortedKeys(KINDS));
      expectThat(same, `Expected ${JSON.stringify(KINDS)}; got ${text.slice(0, 200)}.`);
    },
  },
  { title: 'takes and returns texts of 400 kB', run: (bench) => echoes(bench, 'ä🙂'.repeat(66_667)) },
  {
    title: 'returns a result of 1 MB',
    run: async (bench) => {
      const text = textOf(await bench.run(await bench.connection(), 'check_big', { bytes: 1_000_000 }));
      expectThat(text.length === 1_000_000, `Expected 1,000,000 letters; got ${text.length}.`);
    },
  },
  {
    title: 'sends updates in order, with rising wseq, before finish',
    run: async (bench) => {
      const connection = await bench.connection();
      const call = await bench.call(connection, 'check_updates', { count: 50 });
      const { wseq: last } = await bench.finished(connection, call);
      const updates = connection.about(call).filter((frame) => frame.op === 'update');
      const texts = updates.map(({ content }) => content.map((item) => (item.type === 'text' ? item.text : '')).join(''));
      const wanted = Array.from({ length: 50 }, (_unused, n) => `update ${n + 1}`);
      expectThat(texts.join() === wanted.join(), `Expected 50 updates in order; got ${texts.slice(0, 60).join(', ')}.`);
      const rises = [...updates.map(({ wseq }) => wseq), last].every((wseq, n, all) => n === 0 || wseq > (all[n - 1] ?? 0));
      expectThat(rises, 'Expected each wseq above the one before.');
      expectThat(
        connection.about(call).some(({ op }) => op === 'progress'),
        'Expected progress frames.',
      );
    },
  },
  {
    title: 'reports a failed tool with its message',
    run: async (bench) => {
      const { outcome, error } = await bench.run(await bench.connection(), 'check_fail', { message: 'no more paper' });
      expectThat(outcome === 'failed', `Expected the outcome failed; got ${outcome}.`);
      expectThat(error?.message.includes('no more paper') === true, `Expected the message of the tool; got ${error?.message ?? 'none'}.`);
    },
  },
  {
    title: 'fails a call of a tool that it does not have, and goes on',
    run: async (bench) => {
      const connection = await bench.connection();
      const { outcome } = await bench.run(connection, 'check_unknown', {});
      expectThat(outcome === 'failed', `Expected the outcome failed; got ${outcome}.`);
      await bench.settled(connection);
    },
  },
];

/** Value with the names of objects in order. */
export function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, it]) => [name, withSortedKeys(it)]),
  );
}
