import { ToolAnswer, type JsonValue } from '#contracts';
import type { GatewayRequests } from '#queue';
import type { ToolContext } from '#tool-sdk';
import { ToolGateway } from '#tools';

/** Wait for a gateway, after which the slot is freed and the request repeated. */
const PATIENCE_MS = 20_000;

/** Sends requests to gateways over their request queue. */
export class QueuedToolGateway extends ToolGateway {
  constructor(private readonly requests: Pick<GatewayRequests, 'ask'>) {
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
