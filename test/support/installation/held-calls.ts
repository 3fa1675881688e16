import type { Content, JsonSchema, JsonValue, WorkerCall, WorkerTool } from '#contracts';
import { eventually } from '../eventually.js';
import { ScriptedWorker } from '../foreign-worker.js';

/** Source of the tools whose calls the test itself runs. */
export const HELD = 'held';

const ANY: JsonSchema = { type: 'object' };
/** `held` reads, `held_write` acts once, `held_structured` reads and answers with `degrees`. */
const TOOLS: WorkerTool[] = [
  { name: HELD, description: 'Ends when the test ends it.', input: ANY, tier: 'read_only', effect: 'pure' },
  { name: 'held_write', description: 'The same, of a tool that acts.', input: ANY, tier: 'side_effecting', effect: 'once' },
  {
    name: 'held_structured',
    description: 'The same, of a tool with an output schema.',
    input: ANY,
    output: { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] },
    tier: 'read_only',
    effect: 'pure',
  },
];

export interface HeldAttempt {
  readonly call: WorkerCall;
  /** Sends partial output. What follows within a quarter of a second may become one event with it. */
  update(text: string): void;
  /** Gives the call back; it comes again at once, as its next attempt. */
  retry(): Promise<void>;
  /** Asks for a value; the call comes again when it has one. */
  requestInput(question: { readonly prompt: string; readonly inputSchema: JsonSchema }): Promise<void>;
  end(
    text: string,
    more?: { readonly isError?: boolean; readonly content?: Content[]; readonly structuredContent?: JsonValue },
  ): Promise<void>;
  fail(error: { readonly code: string; readonly message: string; readonly retryable?: boolean }): Promise<void>;
}

/**
 * Runs the calls of the tools `held`, `held_write` and `held_structured` of one tenant, one step at a time, as a foreign worker. A call stays in the
 * queue until it is claimed.
 */
export class HeldCalls {
  private readonly claimed: WorkerCall[] = [];

  private constructor(private readonly worker: ScriptedWorker) {}

  /** @param key has the scope `work` */
  static async open(url: string, key: string): Promise<HeldCalls> {
    return new HeldCalls(await ScriptedWorker.ready(url, key, HELD, TOOLS, 0));
  }

  /** Claims the call, and those that wait before it. */
  async claim(callId: string): Promise<HeldAttempt> {
    const call = await eventually(async () => {
      const index = this.claimed.findIndex((it) => it.callId === callId);
      if (index !== -1) return this.claimed.splice(index, 1)[0];
      this.worker.credit(1);
      const next = await this.worker.next('call');
      this.worker.send({ op: 'started', callId: next.callId, fence: next.fence });
      this.claimed.push(next);
      return undefined;
    }, `the call ${callId} to be sent to its worker`);
    return this.attemptOf(call);
  }

  /** Claims the call and ends it with a text. */
  async run(callId: string, text = 'done'): Promise<void> {
    await (await this.claim(callId)).end(text);
  }

  /** Claims each of the calls and gives it back, in turn, so often: two events of a call each time. */
  async writeEvents(callIds: readonly string[], times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) for (const callId of callIds) await (await this.claim(callId)).retry();
  }

  close(): void {
    this.worker.close();
  }

  private attemptOf(call: WorkerCall): HeldAttempt {
    const { worker } = this;
    const { callId, fence } = call;
    let wseq = 0;
    const textOf = (text: string): Content[] => [{ type: 'text', text }];
    const written = async (frame: object) => {
      worker.send({ ...frame, callId, fence });
      await worker.next('done');
    };
    const finish = (more: object) => written({ op: 'finish', wseq: ++wseq, ...more });
    return {
      call,
      update: (text) => worker.send({ op: 'update', callId, fence, wseq: ++wseq, content: textOf(text) }),
      retry: () => written({ op: 'suspend', resumeInMs: 0 }),
      requestInput: (question) => written({ op: 'suspend', until: 'input', ...question }),
      end: (text, { content = textOf(text), ...more } = {}) => finish({ outcome: 'completed', content, ...more }),
      fail: (error) => finish({ outcome: 'failed', error }),
    };
  }
}
