import { ToolAnswer, type JsonValue } from '#contracts';
import type { AgentRequests } from '#queue';
import type { ToolContext } from '#tool-sdk';
import { ToolGateway } from '#tools';

/** Then the slot is given back, and the request comes again. */
const PATIENCE_MS = 20_000;

/** Asks gateways over the queue in which sub-agents ask them. */
export class QueuedToolGateway extends ToolGateway {
  constructor(private readonly requests: Pick<AgentRequests, 'ask'>) {
    super();
  }

  protected async ask({ callId, fence, signal }: ToolContext, args: Readonly<Record<string, JsonValue>>): Promise<ToolAnswer | undefined> {
    const asking = this.requests.ask({ kind: 'tool', callId, args }, fence, PATIENCE_MS);
    let abort = () => {};
    const aborted = new Promise<undefined>((resolve) =>
      signal.addEventListener('abort', (abort = () => resolve(undefined)), { once: true }),
    );
    try {
      const text = await Promise.race([asking, aborted]);
      return text === undefined ? undefined : ToolAnswer.parse(JSON.parse(text));
    } finally {
      signal.removeEventListener('abort', abort);
      asking.catch(() => {});
    }
  }
}
