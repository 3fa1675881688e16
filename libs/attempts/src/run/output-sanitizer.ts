import { cutUtf8 } from '../commit/cut-text.js';
import type { SuspensionRequest } from '../commit/attempt-result.js';
import { LIMITS, type Content, type ProgressData, type Result, type ToolDescriptor } from '#contracts';
import { tagUntrusted, type SanitizedTextStream, type ContentSanitizer } from '#redaction';
import { telemetry } from '#observability';
import type { ToolContext, UpdateStreamInfo } from '#tool-sdk';
import { MESSAGE_BYTES, type ToolRunResult } from './run-tool.js';
import type { UpdateStream } from './update-stream.js';
import type { AttemptLog } from './attempt-log.js';
import type { ActiveRedaction } from './redaction-settings.service.js';

const ONE_TEXT: UpdateStreamInfo = { stream: '' };
const STDERR = 'stderr';

type Watchers = Pick<UpdateStream, 'onUpdate' | 'onProgress'>;

/**
 * Redacts secrets and hidden characters in updates, progress, result and failure of a tool before they are written, and marks
 * content from external sources. All output of a tool passes here.
 */
export class OutputSanitizer implements Pick<ToolContext, 'onUpdate' | 'onProgress' | 'redact' | 'conceal'> {
  private safety: ContentSanitizer;
  /** Texts that continue over several updates, by stream: a secret may be split over two updates of a stream. */
  private readonly texts = new Map<string, SanitizedTextStream>();
  private origin: string | undefined;
  private command: string | undefined;

  constructor(
    private readonly active: ActiveRedaction,
    private readonly watchers: Watchers,
    private readonly logger: AttemptLog,
    private readonly callId: string,
  ) {
    this.safety = active.safety;
  }

  /** Called before the tool runs. Secrets of the arguments are redacted in its output, too. */
  start(tool: ToolDescriptor, args: Readonly<Record<string, unknown>>, withSecrets: boolean): void {
    if (withSecrets) this.safety = this.safety.withSecrets(this.safety.findSecrets(args));
    this.origin = this.safety.untrustedOrigin(tool, args);
    const { argument } = tool.subjects.find(({ kind }) => kind === 'command') ?? {};
    const command = argument === undefined ? undefined : args[argument];
    if (typeof command === 'string') this.command = command;
  }

  onUpdate(content: readonly Content[], { stream, truncated = false }: UpdateStreamInfo = ONE_TEXT): void {
    const safe = content.flatMap((item) =>
      item.type === 'text' ? asItems(this.textOf(stream).push(item.text)) : [this.safety.content(item)],
    );
    if (truncated) safe.push(...this.endText(stream, truncated));
    if (safe.length > 0) this.watchers.onUpdate(safe, stream === STDERR);
  }

  onProgress(progress: ProgressData): void {
    const { message } = progress;
    this.watchers.onProgress(message === undefined ? progress : { ...progress, message: this.safety.text(message) });
  }

  /** Sends buffered text. Called after the tool has ended. */
  flush(): void {
    for (const stream of this.texts.keys()) {
      const rest = this.endText(stream);
      if (rest.length > 0) this.watchers.onUpdate(rest, stream === STDERR);
    }
  }

  /** Implements `ToolContext.conceal`. Called before the first update. */
  conceal(secrets: readonly string[]): void {
    this.safety = this.safety.withSecrets(secrets);
  }

  redact(text: string, cut = false): string {
    return cut ? this.safety.truncatedText(text) : this.safety.text(text);
  }

  /** Redacts the result or failure of the tool. */
  sanitizeResult({ run, result }: { run: ToolRunResult; result?: Result }): { run: ToolRunResult; result?: Result } {
    if (run.kind === 'failure') {
      const { message, ...failure } = this.safety.error(run.failure);
      const origin = run.failure.code === 'tool_failed' ? this.origin : undefined;
      const safe = { ...failure, message: cutUtf8(message, MESSAGE_BYTES), ...(origin === undefined ? {} : { origin }) };
      this.detectAnomalies(safe.message);
      return { run: { ...run, failure: safe } };
    }
    if (run.kind === 'suspended') return { run: { ...run, request: this.question(run.request) } };
    if (result === undefined) return { run };
    const safe = this.safety.result(result, this.origin);
    this.detectAnomalies(safe.content.map((item) => (item.type === 'text' ? item.text : '')).join('\n'));
    return { run, result: this.origin === undefined ? safe : { ...safe, content: tagUntrusted(safe.content, this.origin) } };
  }

  private question({ prompt, inputSchema, sampling, ...request }: SuspensionRequest): SuspensionRequest {
    return {
      ...request,
      ...(prompt === undefined ? {} : { prompt: cutUtf8(this.safety.text(prompt), LIMITS.promptBytes) }),
      ...(inputSchema === undefined ? {} : { inputSchema: this.safety.json(inputSchema) }),
      ...(sampling === undefined ? {} : { sampling: this.safety.json(sampling) }),
    };
  }

  private textOf(stream: string): SanitizedTextStream {
    let text = this.texts.get(stream);
    if (text === undefined) this.texts.set(stream, (text = this.safety.stream()));
    return text;
  }

  private endText(stream: string, cut = false): Content[] {
    const text = this.texts.get(stream);
    this.texts.delete(stream);
    return asItems(text?.flush(cut) ?? '');
  }

  private detectAnomalies(output: string): void {
    if (this.active.anomalies === undefined || this.command === undefined) return;
    const command = this.safety.text(this.command);
    for (const alert of this.active.anomalies.inspect(command, output, performance.now())) {
      for (const kind of alert.kinds) telemetry.securityAlert.emit({ kind });
      this.logger.warn(
        { callId: this.callId, securityAlert: alert },
        'security alert: the output of a command reports unusual system calls',
      );
    }
  }
}

function asItems(text: string): Content[] {
  return text === '' ? [] : [{ type: 'text', text }];
}
