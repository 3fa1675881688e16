import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { ToolyardClient } from '#client';
import { ToolyardWorker, workerTool, type WorkerToolContext } from '#client/worker';
import type { CliConfig } from '../cli.config.js';
import { UsageError } from '../usage-error.js';
import { MODEL_PORT, startScriptedModel, type ScriptedTurn } from './scripted-model.js';
import { SUB_AGENT, type WeekCall, type WeekSession } from './week-sessions.js';

const OFFERED_MS = 30_000;
const LOOK_MS = 200;
const DESCRIPTION = 'A sub-agent that answers a question about the files of the session.';

interface SubAgentPlay {
  readonly client: ToolyardClient;
  readonly config: CliConfig;
  readonly signal: AbortSignal;
  readonly onCalls: (count: number) => void;
  readonly note: (text: string) => void;
}

type Steps = ReadonlyMap<string, NonNullable<WeekCall['steps']>>;

/**
 * Offers the sub-agent of the week while `run` runs: with a model in this process that answers from the week, where the workers may
 * reach it, else as a tool of a worker in this process that makes the same calls. @throws UsageError if the gateway offers neither
 */
export async function withSubAgent(play: SubAgentPlay, sessions: readonly WeekSession[], run: () => Promise<void>): Promise<void> {
  const calls = sessions.flatMap(({ turns }) => turns.flat()).filter(({ tool }) => tool === SUB_AGENT);
  const steps: Steps = new Map(calls.map((call) => [String(call.arguments['task']), call.steps ?? []]));
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(play.config.url).hostname);
  if (isHere && (await withModel(play, steps, run))) return;
  const start = isHere ? `, start with EGRESS_ALLOW_HOSTS=127.0.0.1:${MODEL_PORT}` : ', run the gateway on this machine';
  play.note(`The sub-agent is a tool of this program, without turns. To see one with a model and its turns${start}.`);
  await withWorker(play, steps, run);
}

/** False if the workers may not ask a model on this machine; `run` was not called then. */
async function withModel(play: SubAgentPlay, steps: Steps, run: () => Promise<void>): Promise<boolean> {
  const { client, signal, onCalls } = play;
  const asked = new Set<string>();
  const model = await startScriptedModel((task, turn) => {
    const made = turnOf(steps.get(task), turn);
    const key = `${turn} ${task}`;
    if (made.call !== undefined && !asked.has(key)) onCalls(1);
    asked.add(key);
    return made;
  });
  try {
    await client.sources.add(
      {
        kind: 'agent',
        name: SUB_AGENT,
        description: DESCRIPTION,
        system: 'You answer questions about the files of the session. You read before you answer.',
        model: { provider: 'openai-compatible', name: 'script-of-the-demo', url: model.url },
        tools: ['file_read', 'file_search', 'glob', 'shell'],
      },
      { signal },
    );
    try {
      const { error } = await connected(play);
      if (error === undefined) await run();
      return error === undefined;
    } finally {
      await client.sources.remove(SUB_AGENT);
    }
  } finally {
    model.close();
  }
}

async function connected({ client, signal }: SubAgentPlay): Promise<{ readonly error?: string | undefined }> {
  for (const until = Date.now() + OFFERED_MS; Date.now() < until; await sleep(LOOK_MS, undefined, { signal })) {
    const { status, error = 'not connected' } = await client.sources.get(SUB_AGENT, { signal });
    if (status === 'failed' || status === 'stale') return { error };
    if (status !== 'connecting' && (await isOffered(client, signal))) return {};
  }
  return { error: 'No worker has connected it' };
}

async function isOffered(client: ToolyardClient, signal: AbortSignal): Promise<boolean> {
  return (await client.tools.list({}, { signal })).some(({ name }) => name === SUB_AGENT);
}

function turnOf(steps: NonNullable<WeekCall['steps']> = [], turn: number): ScriptedTurn {
  const step = steps[turn];
  return step === undefined ? { text: conclusionOf(steps.length) } : { text: step.text, call: step.call };
}

function conclusionOf(calls: number): string {
  return `After ${calls} calls: nothing speaks against it.`;
}

async function withWorker(play: SubAgentPlay, steps: Steps, run: () => Promise<void>): Promise<void> {
  const { url, apiKey } = play.config;
  let said = '';
  const worker = new ToolyardWorker({
    baseUrl: url,
    apiKey,
    name: 'demo',
    tools: [subAgentTool(play, steps)],
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
  for (const until = Date.now() + OFFERED_MS; Date.now() < until; await sleep(LOOK_MS, undefined, { signal }))
    if (await isOffered(client, signal)) return;
  throw new UsageError(`The gateway does not offer ${SUB_AGENT}, the tool of the demo's sub-agent: ${said()}`);
}

function subAgentTool({ client, onCalls }: SubAgentPlay, stepsOf: Steps) {
  const make = async ({ tool, arguments: args }: WeekCall, { callId, signal }: WorkerToolContext) => {
    onCalls(1);
    return client.calls.run({ tool, arguments: { ...args }, parentCallId: callId }, { signal });
  };
  return workerTool({
    name: SUB_AGENT,
    description: DESCRIPTION,
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
      return conclusionOf(steps.length);
    },
  });
}
