import type { CallEvent, Content } from '#contracts';

/** One `notifications/progress`, without its token. */
export interface ProgressStep {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

const MESSAGE_CHARS = 1_000;
/** Far below any step that a tool reports, and large enough to increase any number of steps. */
const SMALL_STEP = 1 / 1024;

/**
 * Progress that always increases, as the protocol requires. Uses the tool's numbers. Text, and numbers that do not increase (a
 * second attempt begins at 0 again), advance by steps smaller than any number of a tool.
 */
export class ProgressMeter {
  private total: number | undefined;
  /** True once a waiting step was reported. */
  private waited = false;

  /** `last`: last reported step. */
  constructor(private last = -SMALL_STEP) {}

  /** Undefined for events without progress. */
  stepOf(event: CallEvent): ProgressStep | undefined {
    switch (event.type) {
      case 'call.progress': {
        const { done, total, message } = event.data;
        if (total !== undefined) this.total = total;
        return this.step(message, done);
      }
      case 'call.update':
        return this.step(textOf(event.data.content));
      case 'call.start':
        return this.waited ? this.step(`${event.data.tool} runs`) : undefined;
      case 'call.retry':
        return this.step(`The attempt ended (${event.data.reason}); the next one follows`);
      case 'call.input_requested':
        return this.step(event.data.prompt ?? 'The tool waits for input');
      default:
        return undefined;
    }
  }

  /** Keep-alive step, so that the client does not give up. */
  waiting(message: string): ProgressStep {
    this.waited = true;
    return this.step(message);
  }

  private step(message: string | undefined, done?: number): ProgressStep {
    this.last = done !== undefined && done > this.last ? done : this.last + SMALL_STEP;
    return {
      progress: this.last,
      ...(this.total === undefined || this.total < this.last ? {} : { total: this.total }),
      ...(message === undefined || message === '' ? {} : { message: message.slice(0, MESSAGE_CHARS).toWellFormed() }),
    };
  }
}

function textOf(content: readonly Content[]): string {
  return content.map((item) => (item.type === 'text' ? item.text : item.type === 'json' ? JSON.stringify(item.json) : '')).join('');
}
