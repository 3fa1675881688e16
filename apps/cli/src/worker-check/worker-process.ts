import { spawn, type ChildProcess } from 'node:child_process';
import type { Changes } from './changes.js';

const LOG_BYTES = 8_192;

/** The program under test. */
export class WorkerProcess {
  exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;
  private readonly child: ChildProcess;
  private said = '';

  constructor([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>, changes: Changes) {
    this.child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const hear = (chunk: Buffer) => (this.said = (this.said + chunk.toString('utf8')).slice(-LOG_BYTES));
    this.child.stdout?.on('data', hear);
    this.child.stderr?.on('data', hear);
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      this.exit ??= { code, signal };
      changes.happened();
    };
    this.child.once('exit', ended);
    this.child.once('error', (error) => {
      this.said += error.message;
      ended(127, null);
    });
  }

  /** End of its output. */
  get log(): string {
    return this.said;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.exit === undefined) this.child.kill(signal);
  }
}
