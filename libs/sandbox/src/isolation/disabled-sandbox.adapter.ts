import type { ProcessCommand } from '../process/run-process.js';
import { Sandbox, type SandboxReport } from './sandbox.port.js';

/** Refuses all commands, with the setting that would run them. */
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

  /** Always throws: callers check the probe first. */
  wrap(): ProcessCommand {
    throw new Error(this.why);
  }
}
