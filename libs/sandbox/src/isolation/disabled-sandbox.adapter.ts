import type { ProcessCommand } from '../process/run-process.js';
import { Sandbox, type SandboxReport } from './sandbox.port.js';

/** Runs nothing, and says what to do about it. */
export class DisabledSandbox extends Sandbox {
  readonly name = 'none';
  readonly network = 'none';

  constructor(
    private readonly why = 'SANDBOX switches commands off on this worker; set SANDBOX=bubblewrap (isolated) or SANDBOX=host to run them',
  ) {
    super();
  }

  async probe(): Promise<SandboxReport> {
    return { name: this.name, ok: false, isolation: 'none', detail: this.why };
  }

  /** Throws: whoever asks has not looked at the probe. */
  wrap(): ProcessCommand {
    throw new Error(this.why);
  }
}
