import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { BuiltinSource, defineTool, type ToolContext } from '#tool-sdk';
import type { StoredSource } from '#contracts';
import { PluginConnector } from './plugin.source.js';

const SOURCE: StoredSource = {
  tenantId: '*',
  origin: 'config',
  definition: { name: 'p', kind: 'plugin', package: 'p', trust: false, pin: false },
};

/** The context of a call as the engine makes it: its functions are getters of its class. */
class Context {
  updates = 0;
  lines = 0;
  readonly callId = 'c';
  readonly deadline = Date.now() + 60_000;
  private readonly controller = new AbortController();
  get signal() {
    return this.controller.signal;
  }
  get onUpdate() {
    return () => void (this.updates += 1);
  }
  get onProgress() {
    return () => void (this.updates += 1);
  }
  get log() {
    return { debug: () => void (this.lines += 1), warn: () => void (this.lines += 1) };
  }
}

async function call(run: (ctx: ToolContext) => Promise<string>) {
  const tool = defineTool({ name: 't', description: 'For tests.', input: z.strictObject({}), run: (_args, ctx) => run(ctx) });
  const tools = new BuiltinSource(() => [tool]);
  tools.list();
  const connector = new PluginConnector([{ source: SOURCE, tools }], () => {});
  const connection = await connector.open(SOURCE);
  const context = new Context();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a plugin reads no more of it
  const ended = connection.call('t', {}, context as unknown as ToolContext);
  return { ended, context };
}

const STOPPED = /The tool was stopped: it sent more than \d+ messages a second/;

it.each([
  ['updates', (ctx: ToolContext) => ctx.onUpdate([{ type: 'text', text: 'x' }])],
  ['progress', (ctx: ToolContext) => ctx.onProgress({ message: 'x' })],
  ['lines of the log', (ctx: ToolContext) => ctx.log.warn('x')],
])('stops a tool of a plugin that floods with %s, also endlessly', async (_what, send) => {
  let signal: AbortSignal | undefined;
  let isOver = false;
  const { ended } = await call(async (ctx) => {
    ({ signal } = ctx);
    while (!isOver) {
      for (let n = 0; n < 30_000; n += 1) {
        try {
          send(ctx);
        } catch {
          // Ignores the stop.
        }
      }
      await turn();
    }
    return 'over';
  });
  await expect(ended).rejects.toMatchObject({
    code: 'tool_failed',
    message: expect.stringMatching(STOPPED),
    options: { retryable: false },
  });
  isOver = true;
  expect(signal?.aborted).toBe(true);
});

it('passes on messages of a plugin’s tool within the budget', async () => {
  const { ended, context } = await call(async (ctx) => {
    for (let n = 0; n < 1_000; n += 1) ctx.onUpdate([{ type: 'text', text: 'x' }]);
    ctx.log.debug(ctx.callId);
    return 'done';
  });
  expect([await ended, context.updates, context.lines]).toEqual(['done', 1_000, 1]);
});
