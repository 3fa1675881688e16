import { EgressError, TraceHosts, type EgressFetch } from '#sandbox';
import { ToolError, type ToolContext, type ToolOutput } from '#tool-sdk';
import { boundedBody } from '../bounded-body.js';
import { AddressFault } from '../address-fault.js';
import { withoutSecrets } from '../definitions/without-secrets.js';
import type { ClientCredentials } from '../oauth/client-credentials.js';
import type { Listing, SourceConnection } from '../source-connector.port.js';
import { buildRequest, shownUrl, type BuiltRequest } from './build-request.js';
import { withToken, type Credentials } from './credentials.js';
import type { Operation } from './operation.js';
import { operationTool } from './operation-tool.js';
import type { ReadOperations } from './read-operations.js';
import { outputOf } from './response-output.js';

const MAX_RESPONSE_BYTES = 8_388_608;
const MAX_REDIRECTS = 5;
/** A worker that does not read the list for all learns of a changed document at a call. */
const FRESH_MS = 60_000;

export interface OpenApiConnectionParts {
  /** The operations as the document has them now. */
  readonly read: (signal: AbortSignal) => Promise<ReadOperations>;
  readonly guarded: EgressFetch;
  readonly credentials: Credentials;
  /** Adds a token to them for each request. */
  readonly tokens?: ClientCredentials | undefined;
  /** Hosts that get the trace of the call. Default: none. */
  readonly traceHosts?: TraceHosts;
}

/** The operations of one document, called over HTTP. */
export class OpenApiConnection implements SourceConnection {
  private operations: ReadonlyMap<string, Operation> = new Map();
  private problems: readonly string[] = [];
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly parts: OpenApiConnectionParts) {}

  async refresh(signal: AbortSignal): Promise<void> {
    const { operations, problems } = await this.parts.read(signal);
    this.problems = problems;
    this.operations = new Map(operations.map((operation) => [operation.name, operation]));
    this.readAt = performance.now();
  }

  async list(signal: AbortSignal): Promise<Listing> {
    await this.refresh(signal);
    return { tools: [...this.operations.values()].map(operationTool), problems: this.problems };
  }

  async call(rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    if (!this.operations.has(rawName) || performance.now() - this.readAt > FRESH_MS) await this.refresh(ctx.signal);
    const operation = this.operations.get(rawName);
    if (operation === undefined)
      throw new ToolError('unavailable', `The document has no operation ${rawName} any more`, { retryable: true });
    const { tokens } = this.parts;
    const token = await tokens?.token();
    const credentials = token === undefined ? this.parts.credentials : withToken(this.parts.credentials, token);
    ctx.signal.throwIfAborted();
    const request = buildRequest(operation, args, credentials);
    const { response, url } = await this.send(request, ctx).catch((error: unknown) => {
      throw failureOf(error, ctx.signal, credentials);
    });
    if (response.status === 401 && token !== undefined) tokens?.refused(token);
    try {
      const body = await boundedBody(response, MAX_RESPONSE_BYTES);
      if (body === undefined)
        throw new ToolError('tool_failed', `The API answered with more than ${MAX_RESPONSE_BYTES} bytes. Ask for less.`, {
          retryable: false,
        });
      const shown = shownUrl({ ...request, url }, credentials);
      const answer = { method: request.method, url: shown, status: response.status, headers: response.headers, body };
      return withoutSecrets(outputOf(answer, { operation, url }), credentials.secrets);
    } catch (error) {
      throw answerFailure(error, `${request.method} → ${response.status}`, ctx.signal, credentials);
    }
  }

  /** No-op: the document announces no changes and is read again periodically. */
  onChange(): void {}

  onClosed(): void {}

  close(): Promise<void> {
    return this.parts.guarded.close();
  }

  /** Follows redirects of reading requests within the origin. Any other is an answer. */
  private async send(
    { method, url, headers, body }: BuiltRequest,
    { signal, traceparent }: Pick<ToolContext, 'signal' | 'traceparent'>,
  ): Promise<{ response: Response; url: URL }> {
    const { guarded, traceHosts = new TraceHosts() } = this.parts;
    let target = url;
    for (let hops = 0; ; hops += 1) {
      const all = { ...traceHosts.headers(target, traceparent), ...headers };
      const response = await guarded.fetch(target, { method, headers: all, signal, ...(body === undefined ? {} : { body }) });
      const location = response.headers.get('location');
      const follows = [301, 302, 303, 307, 308].includes(response.status) && ['GET', 'HEAD'].includes(method) && hops < MAX_REDIRECTS;
      if (!follows || location === null || !URL.canParse(location, target.href)) return { response, url: target };
      const next = new URL(location, target);
      if (next.origin !== url.origin) return { response, url: target };
      await response.body?.cancel();
      target = next;
    }
  }
}

function failureOf(error: unknown, signal: AbortSignal, { secrets }: Credentials): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ToolError) return new ToolError(error.code, withoutSecrets(error.message, secrets), error.options);
  const message = withoutSecrets(reasonOf(error), secrets).slice(0, 500);
  const blocked = error instanceof EgressError || (error instanceof Error && error.cause instanceof EgressError);
  return new ToolError(blocked ? 'tool_failed' : 'unavailable', `The API could not be called: ${message}`, {
    retryable: !blocked,
    cause: error,
  });
}

/** Once an answer has begun, its request had its effect: where the rest cannot be read, it is not sent again. */
function answerFailure(error: unknown, line: string, signal: AbortSignal, credentials: Credentials): unknown {
  if (signal.aborted || error instanceof ToolError) return failureOf(error, signal, credentials);
  const message = withoutSecrets(reasonOf(error), credentials.secrets).slice(0, 500);
  return new ToolError('tool_failed', `${line}, but the answer could not be read: ${message}`, { retryable: false, cause: error });
}

/** `fetch` says "fetch failed" and why in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && !(error instanceof AddressFault) ? error.cause.message : error.message;
}
