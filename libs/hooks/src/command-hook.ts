import type { AppliedHook, HookInput, HookVerdict } from '#contracts';
import { type ProcessReport, ProcessStartError, findExecutable, runProcess } from '#sandbox';
import { parseHookOutput } from './hook-output.js';
import { HookFailure } from './hook-failure.js';
import { hookVariables } from './hook-input.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Exit code of a denial, with the reason on standard error. */
const BLOCKED = 2;
/** Time between the request to stop and the kill. */
const GRACE_MS = 250;
const SHELL = findExecutable(['sh']) ?? '/bin/sh';

export interface CommandEnvironment {
  /** Variables for every command. */
  readonly base: Readonly<Record<string, string>>;
  /** Environment from which the variables of a hook are read. */
  readonly env: Env;
}

/**
 * Runs a hook's command by `sh -c`: input as JSON on standard input, exit code 0 with an answer on standard output, or 2 for a
 * denial. All of its processes are dead when this settles, even after an abort of `signal`. Throws a HookFailure for any other
 * exit.
 */
export async function runCommandHook(
  hook: AppliedHook,
  command: string,
  input: HookInput,
  signal: AbortSignal,
  { base, env }: CommandEnvironment,
): Promise<HookVerdict> {
  const report = await run(
    {
      file: SHELL,
      args: ['-c', command],
      cwd: hook.directory === 'workspace' ? input.cwd : process.cwd(),
      env: { ...base, ...pickEnv(hook.env ?? [], env), ...hookVariables(input) },
      input: JSON.stringify(input),
    },
    { signal, graceMs: GRACE_MS, captureBytes: hook.maxOutputBytes },
  );
  const { exit, stdout, stderr } = report;
  if (exit.how === 'signalled') throw new HookFailure(` was killed by ${exit.signal}`);
  if (exit.how !== 'exited') throw new HookFailure(' was stopped');
  if (exit.code === BLOCKED) {
    const reason = stderr.text.trim() || stdout.text.trim();
    return { decision: 'deny', ...(reason === '' ? {} : { reason }) };
  }
  if (exit.code !== 0) throw new HookFailure(` exited with status ${exit.code}`);
  return parseHookOutput(hook.on, { ...stdout, strict: false });
}

async function run(...parameters: Parameters<typeof runProcess>): Promise<ProcessReport> {
  try {
    return await runProcess(...parameters);
  } catch (error) {
    if (error instanceof ProcessStartError) throw new HookFailure(` could not be started: ${error.message}`, { cause: error });
    throw error;
  }
}

function pickEnv(names: readonly string[], env: Env): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
