import type { JsonValue, ToolAnswer } from '#contracts';
import { Suspension, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';

/** Delay while no gateway answers. */
const NO_GATEWAY_MS = 2_000;

/**
 * Sends the work of a tool to a gateway, which changes sessions, schedules and other calls with the rights of the key that
 * submitted the call. A request may repeat after a crash; gateways recognise it by the call.
 */
export abstract class ToolGateway {
  /** Undefined when no gateway answered in time. */
  protected abstract ask(ctx: ToolContext, args: Readonly<Record<string, JsonValue>>): Promise<ToolAnswer | undefined>;

  /** The result of the tool; suspended until a gateway is there, or until the calls that it made have ended. @throws ToolError */
  async run(ctx: ToolContext, args: object): Promise<ToolOutput> {
    ctx.signal.throwIfAborted();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gateway parsed the arguments from JSON
    const answer = await this.ask(ctx, args as Readonly<Record<string, JsonValue>>);
    ctx.signal.throwIfAborted();
    if (answer === undefined) return new Suspension(NO_GATEWAY_MS);
    switch (answer.kind) {
      case 'output': {
        const { kind: _, ...output } = answer;
        return output;
      }
      case 'wait':
        return new Suspension({ until: 'children' });
      case 'failed':
        throw new ToolError(answer.code, answer.message, answer.errors === undefined ? {} : { errors: answer.errors });
      default:
        return answer satisfies never;
    }
  }
}

/** Gateway of a process without gateways, such as a program that runs tools by itself. */
export class NoToolGateway extends ToolGateway {
  protected async ask(): Promise<ToolAnswer> {
    return { kind: 'failed', code: 'unavailable', message: 'This tool works only in an installation with gateways.' };
  }
}
