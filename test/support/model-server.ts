import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';

export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  /** An object, or text that is sent as it is. */
  readonly arguments: object | string;
}

export interface ScriptedAnswer {
  /** Sent in one piece for each item. */
  readonly text?: string | readonly string[];
  /** Thinking blocks of Anthropic before the text: with a signature, or encrypted. */
  readonly thinking?: readonly ({ readonly text: string; readonly signature: string } | { readonly redacted: string })[];
  readonly toolCalls?: readonly ScriptedToolCall[];
  readonly usage?: { readonly input: number; readonly output: number };
  /** Anything but 200 is an error. */
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** The connection is cut after the texts. */
  readonly cut?: boolean;
  /** Promise before the rest of the answer, after the first piece of text. */
  readonly pause?: Promise<unknown>;
  /** Promise before the first byte. */
  readonly until?: Promise<unknown>;
}

/** A request as a provider's API gets it. */
export interface ModelCall {
  readonly model: string;
  readonly headers: IncomingMessage['headers'];
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look at any field of the provider's format
  readonly body: any;
}

/** How one model answers its nth request, from 0. */
export type ModelScript = (call: ModelCall, n: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

export interface ModelServer {
  readonly url: string;
  /** Requests to a model, oldest first. */
  calls(model: string): readonly ModelCall[];
  on(model: string, script: ModelScript | readonly ScriptedAnswer[]): void;
  close(): Promise<void>;
}

const GENERIC_USAGE = { input: 10, output: 5 };

/** Speaks the streaming APIs of OpenAI (`/chat/completions`) and Anthropic (`/messages`), by script. */
export async function startModelServer(): Promise<ModelServer> {
  const scripts = new Map<string, ModelScript>();
  const seen = new Map<string, ModelCall[]>();
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = JSON.parse(text);
    const call: ModelCall = { model: body.model, headers: request.headers, body };
    const calls = seen.get(call.model) ?? [];
    seen.set(call.model, [...calls, call]);
    const script = scripts.get(call.model);
    const answer = script === undefined ? { status: 404 } : await script(call, calls.length);
    await answer.until;
    if (answer.status !== undefined && answer.status !== 200) {
      response.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers });
      response.end(JSON.stringify({ error: { message: 'scripted', type: 'scripted' } }));
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream', ...answer.headers });
    const frames = /\/messages(?:\?|$)/.test(request.url ?? '') ? anthropicFrames(answer, call.model) : openAiFrames(answer, call.model);
    for (const [n, frame] of frames.entries()) {
      if (n === 1) await answer.pause;
      if (!response.write(frame))
        await Promise.race([new Promise((drained) => response.once('drain', drained)), after(5_000, undefined, { ref: false })]);
    }
    if (answer.cut === true) response.destroy();
    else response.end();
  };

  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls: (model) => seen.get(model) ?? [],
    on: (model, script) => {
      seen.delete(model);
      const list = typeof script === 'function' ? undefined : script;
      scripts.set(model, typeof script === 'function' ? script : (_call, n) => list?.[n] ?? { text: `no answer ${n} is scripted` });
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}

function texts({ text = [] }: ScriptedAnswer): readonly string[] {
  return typeof text === 'string' ? [text] : text;
}

function argumentText(call: ScriptedToolCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}

function openAiFrames(answer: ScriptedAnswer, model: string): string[] {
  const { toolCalls = [], usage = GENERIC_USAGE, cut } = answer;
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ id: 'chat', object: 'chat.completion.chunk', created: 1, model, ...more })}\n\n`;
  const delta = (of: object, finish: string | null = null) => chunk({ choices: [{ index: 0, delta: of, finish_reason: finish }] });
  const frames = texts(answer).map((content) => delta({ role: 'assistant', content }));
  if (cut === true) return frames;
  for (const [index, call] of toolCalls.entries())
    frames.push(
      delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: argumentText(call) } }] }),
    );
  frames.push(delta({}, toolCalls.length > 0 ? 'tool_calls' : 'stop'));
  const { input, output } = usage;
  frames.push(
    chunk({ choices: [], usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } }),
    'data: [DONE]\n\n',
  );
  return frames;
}

function anthropicFrames(answer: ScriptedAnswer, model: string): string[] {
  const { toolCalls = [], usage = GENERIC_USAGE, cut } = answer;
  const frame = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const message = { id: 'msg', type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null };
  const frames = [frame('message_start', { message: { ...message, usage: { input_tokens: usage.input, output_tokens: 0 } } })];
  const block = (index: number, content_block: object, deltas: readonly object[]) => [
    frame('content_block_start', { index, content_block }),
    ...deltas.map((delta) => frame('content_block_delta', { index, delta })),
    frame('content_block_stop', { index }),
  ];
  const { thinking = [] } = answer;
  for (const [n, it] of thinking.entries())
    frames.push(
      ...('redacted' in it
        ? block(n, { type: 'redacted_thinking', data: it.redacted }, [])
        : block(n, { type: 'thinking', thinking: '', signature: '' }, [
            { type: 'thinking_delta', thinking: it.text.slice(0, 3) },
            { type: 'thinking_delta', thinking: it.text.slice(3) },
            { type: 'signature_delta', signature: it.signature },
          ])),
    );
  const at = thinking.length;
  frames.push(
    ...block(
      at,
      { type: 'text', text: '' },
      texts(answer).map((text) => ({ type: 'text_delta', text })),
    ),
  );
  if (cut === true) return frames;
  for (const [n, call] of toolCalls.entries())
    frames.push(
      ...block(at + n + 1, { type: 'tool_use', id: call.id, name: call.name, input: {} }, [
        { type: 'input_json_delta', partial_json: argumentText(call) },
      ]),
    );
  const stop_reason = toolCalls.length > 0 ? 'tool_use' : 'end_turn';
  frames.push(frame('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } }));
  return [...frames, frame('message_stop', {})];
}
