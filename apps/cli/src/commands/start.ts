import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';

const PARENT_LOOK_MS = 1_000;

/** Runs standalone in the foreground, as a process with flags of its own, and exits as it does; `npm start` builds first. */
export async function startStandalone({ interrupts, standalone }: Pick<CommandContext, 'interrupts' | 'standalone'>): Promise<number> {
  const program = spawn(process.execPath, ['--enable-source-maps', '--max-semi-space-size=32', standalone], { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both, and npx a second one; standalone takes signals at once for one.
  interrupts.passOn((signal) => program.kill(signal));
  const watch = onNpxGone(() => program.kill('SIGTERM'));
  try {
    await once(program, 'exit');
  } finally {
    clearInterval(watch);
  }
  return program.exitCode ?? EXIT.interrupted;
}

/** npx runs a program by a shell, and passes SIGTERM to this shell only: dash ends by it and leaves the program running. */
function onNpxGone(gone: () => void): NodeJS.Timeout | undefined {
  if (process.env['npm_lifecycle_event'] !== 'npx') return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    gone();
  }, PARENT_LOOK_MS);
  return watch;
}
