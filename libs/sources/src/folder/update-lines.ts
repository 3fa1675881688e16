import { z } from 'zod';
import { countParts, ProgressData } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import { MessageBudget, MessageFlood } from '#timing';

const MAX_LINE = 65_536;
const Line = z.union([z.object({ update: z.string() }), z.object({ progress: ProgressData })]);

/**
 * Reads the JSON lines that a tool writes to descriptor 3. Lines that are none, or too long, are skipped. Beyond the budget
 * nothing more is read: `budget.exceeded` says why, after its `onExceeded` was called.
 */
export class UpdateLines {
  private readonly decoder = new TextDecoder();
  private rest = '';
  private skipping = false;

  constructor(
    private readonly ctx: Pick<ToolContext, 'onUpdate' | 'onProgress'>,
    private readonly budget = new MessageBudget(),
  ) {}

  readonly accept = (chunk: Buffer): void => {
    if (this.budget.exceeded === undefined) this.read(chunk);
  };

  private read(chunk: Buffer): void {
    const lines = (this.rest + this.decoder.decode(chunk, { stream: true })).split('\n');
    this.rest = lines.pop() ?? '';
    if (!this.isWithin(lines.length, chunk.length)) return;
    for (const line of lines) {
      if (!this.skipping && !this.take(line)) return;
      this.skipping = false;
    }
    if (this.rest.length <= MAX_LINE) return;
    this.rest = '';
    this.skipping = true;
  }

  private isWithin(...cost: Parameters<MessageBudget['spend']>): boolean {
    try {
      this.budget.spend(...cost);
      return true;
    } catch (error) {
      if (error instanceof MessageFlood) return false;
      throw error;
    }
  }

  /** False beyond the budget. */
  private take(text: string): boolean {
    if (text.trim() === '' || text.length > MAX_LINE) return true;
    if (!this.isWithin(0, 0, countParts(text, MAX_LINE))) return false;
    const line = Line.safeParse(jsonOf(text)).data;
    if (line === undefined) return true;
    if ('update' in line) this.ctx.onUpdate([{ type: 'text', text: line.update }]);
    else this.ctx.onProgress(line.progress);
    return true;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
