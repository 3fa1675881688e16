import 'reflect-metadata';
import { closeInheritedDescriptors, ignoreBrokenPipe, mistypedVariables } from '#platform';
import { banner, stoppedText } from './banner.js';
import { STANDALONE_VARIABLES } from './standalone.config.js';
import { StartupError } from './start-failure.js';
import { startStandalone, type Standalone } from './start-standalone.js';

/** npm forwards a Ctrl-C that the terminal has already sent to this process. A second signal this soon is the same one. */
const SAME_PRESS_MS = 700;

/**
 * The first SIGINT or SIGTERM calls `drain`, the second one `exitNow`. `drain` must not reject.
 */
function onStopSignals(drain: (signal: NodeJS.Signals) => void, exitNow: () => void): void {
  let first: number | undefined;
  const heard = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (first === undefined) {
      first = now;
      drain(signal);
    } else if (now - first > SAME_PRESS_MS) {
      exitNow();
    }
  };
  process.on('SIGINT', heard);
  process.on('SIGTERM', heard);
  process.on('SIGHUP', heard);
}

const tell = (line: string) => console.error(line);

closeInheritedDescriptors(process.env);
ignoreBrokenPipe();

let running: Standalone | undefined;
let wanted = true;

/** Stops everything in order, then exits; a failure still ends the process. */
async function drain(exitCode: number): Promise<void> {
  try {
    await running?.stop();
    if (running) tell(stoppedText(running.openCalls()));
  } catch (error) {
    tell(`Stopping failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  process.exit(exitCode);
}

onStopSignals(
  (signal) => {
    wanted = false;
    tell(`\n${signal === 'SIGINT' ? 'Ctrl-C' : signal}: no new calls, running calls end, then Redis stops. Send it again to stop at once.`);
    if (running) void drain(0);
  },
  () => process.exit(130),
);

process.on('uncaughtException', (error) => {
  tell(`Toolyard failed and stops: ${error.stack ?? error.message}`);
  void drain(1);
});

for (const sentence of mistypedVariables(process.env, STANDALONE_VARIABLES)) tell(sentence);
const startedAt = performance.now();
try {
  running = await startStandalone(process.env, tell);
  if (wanted) {
    // A key of the environment is not printed, nor any key into a log, which more people read than a terminal.
    const keyToShow = process.stdout.isTTY && running.keyFile !== undefined ? running.key : undefined;
    console.log(banner({ ...running, keyToShow, tookMs: performance.now() - startedAt }));
  } else await drain(0);
} catch (error) {
  if (error instanceof StartupError) tell(`\n${error.message}\n`);
  else tell(`\nToolyard could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}
