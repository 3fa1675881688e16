import { ProtocolError, SdkError, SdkErrorCode, type Client, type Tool } from '@modelcontextprotocol/client';
import { JsonSchema } from '#contracts';
import { ToolError, type ToolContext, type ToolOutput } from '#tool-sdk';
import type { OfferedTool } from '../catalog/offered-tool.js';
import type { SourceConnection } from '../source-connector.port.js';
import { withoutSecrets } from '../definitions/without-secrets.js';
import { outputOf } from './mcp-content.js';

/** The call ends by its own deadline; this only frees what the client holds. */
const SLACK_MS = 10_000;

export interface McpConnectionParts {
  readonly client: Client;
  /** Values that must not leave the worker. */
  readonly secrets: readonly string[];
  /** Why the server is gone, in words for the operator. */
  readonly whyClosed: () => string;
  readonly close: () => Promise<void>;
}

/** A connected MCP server. All calls share the connection. */
export class McpConnection implements SourceConnection {
  private readonly changed = new Set<() => void>();
  private closing: Promise<void> | undefined;

  constructor(private readonly parts: McpConnectionParts) {}

  /** Called by the client when the server says that its list changed. */
  listChanged(): void {
    for (const listener of this.changed) listener();
  }

  async list(signal: AbortSignal): Promise<readonly OfferedTool[]> {
    const { client, secrets } = this.parts;
    try {
      const { tools } = await client.listTools(undefined, { signal, cacheMode: 'refresh' });
      return withoutSecrets(tools.map(offeredTool), secrets);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(withoutSecrets(message, secrets), { cause: error });
    }
  }

  async call(rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    const { client, secrets } = this.parts;
    try {
      const result = await client.callTool(
        { name: rawName, arguments: { ...args }, ...(ctx.traceparent === undefined ? {} : { _meta: { traceparent: ctx.traceparent } }) },
        {
          signal: ctx.signal,
          timeout: Math.max(1, ctx.deadline - Date.now()) + SLACK_MS,
          onprogress: ({ progress, total, message }) =>
            ctx.onProgress({
              done: progress,
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message: withoutSecrets(message, secrets).slice(0, 1_000) }),
            }),
        },
      );
      return withoutSecrets(outputOf(result), secrets);
    } catch (error) {
      if (ctx.signal.aborted) throw ctx.signal.reason;
      throw this.failureOf(error);
    }
  }

  onChange(listener: () => void): void {
    this.changed.add(listener);
  }

  onClosed(listener: (reason: string) => void): void {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is no EventTarget; this is its only hook
    this.parts.client.onclose = () => listener(this.parts.whyClosed());
  }

  close(): Promise<void> {
    return (this.closing ??= this.parts.close().catch(() => undefined));
  }

  /** An error of the protocol is an answer of the server; everything else means that it cannot be reached. */
  private failureOf(error: unknown): ToolError {
    const message = withoutSecrets(error instanceof Error ? error.message : String(error), this.parts.secrets).slice(0, 2_000);
    if (error instanceof ProtocolError) return new ToolError('tool_failed', message, { retryable: false, cause: error });
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
      return new ToolError('run_timeout', 'The MCP server did not answer in time.', { retryable: true, cause: error });
    return new ToolError('unavailable', `MCP call failed: ${message}`, { retryable: true, cause: error });
  }
}

/** Hints count where the operator trusts the source. */
function offeredTool({ name, title, description, inputSchema, outputSchema, annotations }: Tool): OfferedTool {
  const { readOnlyHint = false, destructiveHint = true, idempotentHint = false } = annotations ?? {};
  const label = title ?? annotations?.title;
  return {
    rawName: name,
    ...(label === undefined ? {} : { label }),
    ...(description === undefined ? {} : { description }),
    input: JsonSchema.parse(inputSchema),
    ...(outputSchema === undefined ? {} : { output: JsonSchema.parse(outputSchema) }),
    tier: readOnlyHint ? 'read_only' : destructiveHint ? 'privileged' : 'side_effecting',
    effect: readOnlyHint ? 'pure' : idempotentHint ? 'idempotent' : 'once',
  };
}
