import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { ToolyardClient } from '#client';
import { suspend, ToolyardWorker, WorkerRefused, workerTool } from '#client/worker';
import { checkTools } from './check-tools.js';

const { env } = process;
const apiKey = env['TOOLYARD_API_KEY'];
const baseUrl = env['TOOLYARD_URL'] ?? 'http://127.0.0.1:7411';
if (!apiKey) {
  console.error('Expected TOOLYARD_API_KEY: a key with the scope `work`.');
  process.exit(1);
}
const client = new ToolyardClient({ baseUrl, apiKey, WebSocket: false });

const wordCount = workerTool({
  name: 'word_count',
  description: 'Counts the words and lines of a text.',
  input: z.strictObject({ text: z.string() }),
  output: z.strictObject({ words: z.number().int(), lines: z.number().int() }),
  tier: 'read_only',
  run: ({ text }) => {
    const counts = { words: text.split(/\s+/).filter(Boolean).length, lines: text.split('\n').length };
    return { content: [{ type: 'text', text: JSON.stringify(counts) }], structuredContent: counts };
  },
});

const slowCount = workerTool({
  name: 'slow_count',
  description: 'Counts to a number, one step at a time.',
  input: z.strictObject({ to: z.number().int().min(1).max(1_000), stepMs: z.number().int().min(1).max(60_000).default(1_000) }),
  run: async ({ to, stepMs }, { signal, onUpdate, onProgress }) => {
    for (let done = 1; done <= to; done++) {
      await sleep(stepMs, undefined, { signal });
      onUpdate(`${done}\n`);
      onProgress({ done, total: to, message: `counted to ${done}` });
    }
    return `counted to ${to}`;
  },
});

const wordCounts = workerTool({
  name: 'word_counts',
  description: 'Counts the words of several texts, each in a call of its own.',
  input: z.strictObject({ texts: z.array(z.string()).max(20) }),
  run: async ({ texts }, { callId }) => {
    // The key makes it the same call when this runs again.
    const submit = (text: string, number: number) =>
      client.calls.submit({ tool: 'word_count', arguments: { text }, parentCallId: callId }, { idempotencyKey: `${callId}/${number}` });
    const calls = await Promise.all(texts.map(submit));
    if (calls.some(({ status }) => status !== 'ended')) return suspend({ until: 'children' });
    return JSON.stringify(calls.map(({ result }) => result?.structuredContent));
  },
});

const greet = workerTool({
  name: 'greet',
  description: 'Asks a person for a name, and greets.',
  input: z.strictObject({}),
  run: (_none, { resumed }) => {
    if (resumed?.reason === 'input') return `Hello ${typeof resumed.input === 'string' ? resumed.input : 'there'}!`;
    return suspend({ until: 'input', prompt: 'Who is to be greeted?', inputSchema: { type: 'string', maxLength: 100 } });
  },
});

const worker: ToolyardWorker = new ToolyardWorker({
  baseUrl,
  apiKey,
  name: env['TOOLYARD_WORKER'] ?? 'typescript',
  tools: env['TOOLYARD_CHECK'] ? checkTools(() => worker) : [wordCount, slowCount, wordCounts, greet],
  slots: Number(env['TOOLYARD_SLOTS'] ?? 4),
  labels: { pid: String(process.pid) },
  onMessage: (text) => console.error(text),
  ...(env['TOOLYARD_TRANSPORT'] === 'poll' ? {} : { WebSocket }),
});
// The first signal: no new calls, running calls end. The second one ends the process.
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => worker.stop());
try {
  await worker.run();
} catch (error) {
  if (!(error instanceof WorkerRefused)) throw error;
  console.error(`refused: ${error.message}`);
  process.exitCode = 1;
}
