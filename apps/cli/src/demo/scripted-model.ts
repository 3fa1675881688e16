import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** Address of the model, unless another program listens there: for `EGRESS_ALLOW_HOSTS`. */
export const MODEL_PORT = 7419;
/** Time before each piece of an answer, in milliseconds. */
const PIECE_MS = 60;
const CHARS_PER_TOKEN = 4;

const Part = z.looseObject({ text: z.string().optional() });
const Request = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(Part)]).nullish() })),
});

export interface ScriptedTurn {
  readonly text: string;
  readonly call?: { readonly tool: string; readonly arguments: Readonly<Record<string, string | number>> };
}

export interface ScriptedModel {
  /** Base address of its API. */
  readonly url: string;
  close(): void;
}

/**
 * Model of chat completions on this machine that answers from a script: `turnOf` has the turn of a task, from 0. Streams as models
 * do, and counts a token for every 4 characters.
 */
export async function startScriptedModel(turnOf: (task: string, turn: number) => ScriptedTurn): Promise<ScriptedModel> {
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { model, messages } = Request.parse(await json(request));
    const task = textOf(messages.find(({ role }) => role === 'user')?.content);
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    const made = turnOf(task, turn);
    const usage = tokensOf(JSON.stringify(messages).length, made);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const piece of piecesOf(made, turn)) {
      await sleep(PIECE_MS);
      response.write(frameOf(model, { choices: [{ index: 0, ...piece }] }));
    }
    response.end(`${frameOf(model, { choices: [], usage })}data: [DONE]\n\n`);
  };

  const url = `http://127.0.0.1:${await listen(server)}/v1`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url, close };
}

async function listen(server: Server): Promise<number> {
  for (const port of [MODEL_PORT, 0]) {
    const listening = once(server.listen(port, '127.0.0.1'), 'listening').catch(() => undefined);
    if ((await listening) === undefined) continue;
    const address = server.address();
    if (typeof address === 'object' && address !== null) return address.port;
  }
  throw new Error('Expected a free port on 127.0.0.1 for the model of the demo');
}

function textOf(content: z.output<typeof Request>['messages'][number]['content'] = ''): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('');
}

/** Deltas of an answer: its text by words, then its call. */
function piecesOf({ text, call }: ScriptedTurn, turn: number): readonly object[] {
  const words = text.split(/(?<= )/).map((content) => ({ delta: { role: 'assistant', content }, finish_reason: null }));
  if (call === undefined) return [...words, { delta: {}, finish_reason: 'stop' }];
  const asked = { name: call.tool, arguments: JSON.stringify(call.arguments) };
  const calls = [{ index: 0, id: `call_${turn}`, type: 'function', function: asked }];
  return [...words, { delta: { tool_calls: calls }, finish_reason: null }, { delta: {}, finish_reason: 'tool_calls' }];
}

function frameOf(model: string, more: object): string {
  return `data: ${JSON.stringify({ id: 'demo', object: 'chat.completion.chunk', created: 1, model, ...more })}\n\n`;
}

function tokensOf(readChars: number, written: ScriptedTurn) {
  const [prompt, completion] = [readChars, JSON.stringify(written).length].map((chars) => Math.ceil(chars / CHARS_PER_TOKEN));
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: (prompt ?? 0) + (completion ?? 0) };
}
