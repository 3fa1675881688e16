import type { Content, ProgressData, Result, ToolDescriptor } from '#contracts';
import { marked, type SafeTextStream, type Safety } from '#safety';
import { signals } from '#signals';
import type { Remarks } from '../execution/hook-remarks.js';
import { cutUtf8 } from '../execution/limit-output.js';
import { MESSAGE_BYTES, type RunEnd } from '../execution/run-tool.js';
import type { UpdateStream } from '../execution/update-stream.js';
import type { WorkerLog } from '../worker.logger.js';
import type { SafetyInForce } from './safety-settings.service.js';

type Watchers = Pick<UpdateStream, 'onUpdate' | 'onProgress'>;

/**
 * Stands between a tool and everybody who sees what it says: secrets and hidden characters are taken out of updates,
 * progress, result and failure before anything of them is written, and what comes from outside is marked.
 */
export class CallGuard implements Watchers {
  private safety: Safety;
  private text: SafeTextStream | undefined;
  private origin: string | undefined;
  private command: string | undefined;

  constructor(
    private readonly inForce: SafetyInForce,
    private readonly watchers: Watchers,
    private readonly logger: WorkerLog,
    private readonly callId: string,
  ) {
    this.safety = inForce.safety;
  }

  /** Before the tool runs. Secrets that the arguments held are secrets in all that it says. */
  begins(tool: ToolDescriptor, args: Readonly<Record<string, unknown>>, withSecrets: boolean): void {
    if (withSecrets) this.safety = this.safety.knowing(this.safety.secretsIn(args));
    this.origin = this.safety.untrustedOrigin(tool, args);
    const { argument } = tool.subjects.find(({ kind }) => kind === 'command') ?? {};
    const command = argument === undefined ? undefined : args[argument];
    if (typeof command === 'string') this.command = command;
  }

  onUpdate(content: readonly Content[]): void {
    const safe = content.flatMap((item) => this.update(item));
    if (safe.length > 0) this.watchers.onUpdate(safe);
  }

  onProgress(progress: ProgressData): void {
    const { message } = progress;
    this.watchers.onProgress(message === undefined ? progress : { ...progress, message: this.safety.text(message) });
  }

  /** Tells watchers what was held back: nothing more comes. */
  flush(): void {
    const rest = this.text?.flush() ?? '';
    this.text = undefined;
    if (rest !== '') this.watchers.onUpdate([{ type: 'text', text: rest }]);
  }

  /** What may be written about how the tool ended. */
  finished({ run, result }: { run: RunEnd; result?: Result }): { run: RunEnd; result?: Result } {
    if (run.kind === 'failure') {
      const { message, ...failure } = this.safety.error(run.failure);
      const origin = run.failure.code === 'tool_failed' ? this.origin : undefined;
      const safe = { ...failure, message: cutUtf8(message, MESSAGE_BYTES), ...(origin === undefined ? {} : { origin }) };
      this.look(safe.message);
      return { run: { ...run, failure: safe } };
    }
    if (result === undefined) return { run };
    const safe = this.safety.result(result, this.origin);
    this.look(safe.content.map((item) => (item.type === 'text' ? item.text : '')).join('\n'));
    return { run, result: this.origin === undefined ? safe : { ...safe, content: marked(safe.content, this.origin) } };
  }

  /** Hooks are given arguments and output as they are, and may repeat them. */
  remarks({ text, denied, runs }: Remarks): Remarks {
    return { ...(text === undefined ? {} : { text: this.safety.text(text) }), denied, runs: this.safety.json(runs) };
  }

  /** A text goes on over updates; another item ends it. */
  private update(item: Content): Content[] {
    if (item.type === 'text') {
      const text = (this.text ??= this.safety.stream()).push(item.text);
      return text === '' ? [] : [{ type: 'text', text }];
    }
    const rest = this.text?.flush() ?? '';
    this.text = undefined;
    return [...(rest === '' ? [] : [{ type: 'text' as const, text: rest }]), this.safety.content(item)];
  }

  private look(output: string): void {
    if (this.inForce.anomalies === undefined || this.command === undefined) return;
    const command = this.safety.text(this.command);
    for (const alert of this.inForce.anomalies.inspect(command, output, performance.now())) {
      for (const kind of alert.kinds) signals.securityAlert.emit({ kind });
      this.logger.warn(
        { callId: this.callId, securityAlert: alert },
        'security alert: the output of a command tells of unusual system calls',
      );
    }
  }
}
