import { BubblewrapSandbox } from './bubblewrap-sandbox.adapter.js';
import { HostSandbox } from './host-sandbox.adapter.js';
import type { Sandbox } from './sandbox.port.js';

/** The sandbox that `SANDBOX` names: `host` (default) or `bubblewrap`. */
export function sandboxFrom(env: Readonly<Record<string, string | undefined>>): Sandbox {
  const name = env['SANDBOX'] ?? 'host';
  if (name === 'host') return new HostSandbox();
  if (name === 'bubblewrap') return new BubblewrapSandbox();
  throw new Error(`SANDBOX: expected host or bubblewrap, got "${name}"`);
}
