import type { Content } from '#contracts';
import { ToolError, type ToolContext } from '#tool-sdk';
import { MessageBudget, MessageFlood } from '#timing';

/**
 * Runs a tool of this process with a budget for its updates, progress and lines of the log. Beyond it they throw, the
 * signal of the tool aborts, and the call fails, whatever the tool does then. @throws ToolError beyond the budget
 */
export function withinBudget<T>(ctx: ToolContext, run: (ctx: ToolContext) => Promise<T>, budget = new MessageBudget()): Promise<T> {
  const flood = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    budget.onExceeded = () => {
      const reason = new ToolError('tool_failed', `The tool was stopped: ${budget.exceeded}`, { retryable: false });
      reject(reason);
      flood.abort(reason);
    };
  });
  const spend = (bytes: number): void => {
    try {
      budget.spend(1, bytes);
    } catch (error) {
      throw error instanceof MessageFlood ? flood.signal.reason : error;
    }
  };
  const log = (level: keyof ToolContext['log']) => (message: string, facts?: object) => {
    spend(lengthOf(message));
    ctx.log[level](message, facts);
  };
  const own: Partial<ToolContext> = {
    signal: AbortSignal.any([ctx.signal, flood.signal]),
    onUpdate: (content, of) => {
      spend(bytesOf(content));
      ctx.onUpdate(content, of);
    },
    onProgress: (progress) => {
      spend(lengthOf(progress.message));
      ctx.onProgress(progress);
    },
    log: { debug: log('debug'), warn: log('warn') },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a context has is found by its prototype, getters too
  const metered = Object.create(ctx, Object.getOwnPropertyDescriptors(own)) as ToolContext;
  return Promise.race([run(metered), stopped]);
}

/** 0 for what a plugin in JavaScript gives in place of a text. */
const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0);

function bytesOf(content: readonly Content[]): number {
  return content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : JSON.stringify(part).length), 0);
}
