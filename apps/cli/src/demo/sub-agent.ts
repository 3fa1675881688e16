import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { ToolyardClient } from '#client';
import { ToolyardWorker, workerTool, type WorkerToolContext } from '#client/worker';
import type { CliConfig } from '../cli.config.js';
import { UsageError } from '../usage-error.js';
import { SUB_AGENT, type WeekCall, type WeekSession } from './week-sessions.js';

const OFFERED_MS = 30_000;
const LOOK_MS = 200;

interface SubAgentPlay {
  readonly client: ToolyardClient;
  readonly config: CliConfig;
  readonly signal: AbortSignal;
  readonly onCalls: (count: number) => void;
}

/**
 * Offers the sub-agent of the week as a tool of a worker in this process while `run` runs. Without a model: it makes the calls
 * of the week for each task. @throws UsageError if the gateway does not offer it
 */
export async function withSubAgent(play: SubAgentPlay, sessions: readonly WeekSession[], run: () => Promise<void>): Promise<void> {
  const { url, apiKey } = play.config;
  let said = '';
  const worker = new ToolyardWorker({
    baseUrl: url,
    apiKey,
    name: 'demo',
    tools: [subAgent(play, sessions)],
    slots: 6,
    WebSocket,
    onMessage: (text) => (said = text),
  });
  const running = worker.run();
  const refused = running.then(() => new Promise<never>(() => {}));
  try {
    await Promise.race([offered(play, () => said), refused]);
    await Promise.race([run(), refused]);
  } finally {
    worker.stop();
  }
  await running;
}

async function offered({ client, signal }: SubAgentPlay, said: () => string): Promise<void> {
  for (const until = Date.now() + OFFERED_MS; Date.now() < until; await sleep(LOOK_MS, undefined, { signal })) {
    const tools = await client.tools.list({}, { signal });
    if (tools.some(({ name }) => name === SUB_AGENT)) return;
  }
  throw new UsageError(`The gateway does not offer ${SUB_AGENT}, the tool of the demo's sub-agent: ${said()}`);
}

function subAgent({ client, onCalls }: SubAgentPlay, sessions: readonly WeekSession[]) {
  const calls = sessions.flatMap(({ turns }) => turns.flat()).filter(({ tool }) => tool === SUB_AGENT);
  const stepsOf = new Map(calls.map((call) => [call.arguments['task'], call.steps ?? []]));
  const make = async ({ tool, arguments: args }: WeekCall, { callId, signal }: WorkerToolContext) => {
    onCalls(1);
    return client.calls.run({ tool, arguments: { ...args }, parentCallId: callId }, { signal });
  };
  return workerTool({
    name: SUB_AGENT,
    description: 'A sub-agent that answers a question about the files of the session.',
    input: z.strictObject({ task: z.string().describe('The question.') }),
    run: async ({ task }, context) => {
      const steps = stepsOf.get(task);
      if (steps === undefined) return 'The demo has no steps for this task.';
      for (const [index, { text, call }] of steps.entries()) {
        context.onUpdate(`${text}\n`);
        context.onProgress({ done: index, total: steps.length, message: text });
        await make(call, context);
      }
      context.onProgress({ done: steps.length, total: steps.length });
      return `After ${steps.length} calls: nothing speaks against it.`;
    },
  });
}
