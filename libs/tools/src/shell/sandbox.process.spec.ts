import { describe, expect, it } from '@jest/globals';
import { fakeToolContext } from '../testing/tool-context.js';
import { ShellTool } from './shell.tool.js';
import { BubblewrapSandbox, DEFAULT_LIMITS, NoSandbox, DisabledSandbox, type Sandbox } from '#sandbox';
import { sandboxLimitsContract } from './sandbox-limits.contract.js';
import { sandboxContract } from './sandbox.contract.js';
import { shellStateContract } from './shell-state.contract.js';

const host = { make: (limits = {}) => new NoSandbox({ ...DEFAULT_LIMITS, ...limits }), isolated: false };
const working = new BubblewrapSandbox();
const bubblewrap = {
  make: (limits?: object) => (limits ? new BubblewrapSandbox({ limits: { ...DEFAULT_LIMITS, ...limits } }) : working),
  isolated: true,
};

for (const suite of [sandboxContract, sandboxLimitsContract, shellStateContract]) suite('host', host);

/** Checks without user namespaces, as in many containers, that nothing runs unisolated instead. */
if ((await working.probe()).ok) {
  for (const suite of [sandboxContract, sandboxLimitsContract, shellStateContract]) suite('bubblewrap', bubblewrap);
} else {
  describe('the sandbox bubblewrap on a machine where it does not work', () => {
    it('runs nothing if bubblewrap does not work, with the reason', () =>
      expectRefusal(working, /^shell tool is disabled: bwrap (does not work here|is not installed)/));
  });
}

describe('a sandbox that does not work', () => {
  it('runs nothing in a broken sandbox, and states what to install or set', async () => {
    await expectRefusal(new BubblewrapSandbox({ bwrap: '/bin/false' }), /^shell tool is disabled: bwrap does not work here/);
    await expectRefusal(
      new BubblewrapSandbox({ bwrap: undefined }),
      /bwrap is not installed: install bubblewrap .*apt-get install bubblewrap/,
    );
    await expectRefusal(new BubblewrapSandbox({ bwrap: '/nonexistent/bwrap' }), /apt-get install bubblewrap/);
  });

  it('runs nothing if the sandbox is none, by setting or by default [EX-31, TB-05]', async () => {
    await expectRefusal(new DisabledSandbox(), /^shell tool is disabled: SANDBOX switches commands off .* set SANDBOX=bubblewrap/);
    await expectRefusal(undefined, /^shell tool is disabled: no sandbox was chosen/);
  });
});

async function expectRefusal(sandbox: Sandbox | undefined, message: RegExp): Promise<void> {
  const refused = new ShellTool(sandbox).run({ command: 'echo ran', persistent: false, background: false }, fakeToolContext());
  await expect(refused).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(message),
    options: { retryable: false },
  });
}
