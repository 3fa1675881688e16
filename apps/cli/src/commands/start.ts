import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';

/** What `npm start` does after the build: runs standalone in the foreground, as a process with flags of its own, and exits as it does. */
export async function startStandalone({ interrupts, standalone }: Pick<CommandContext, 'interrupts' | 'standalone'>): Promise<number> {
  const program = spawn(process.execPath, ['--enable-source-maps', '--max-semi-space-size=32', standalone], { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both; standalone takes two signals at once for one.
  interrupts.handle(
    () => program.kill('SIGINT'),
    () => program.kill('SIGINT'),
  );
  await once(program, 'exit');
  return program.exitCode ?? EXIT.interrupted;
}
