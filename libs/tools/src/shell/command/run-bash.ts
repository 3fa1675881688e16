import { basename } from 'node:path';
import type { Sandbox } from '#sandbox';
import { type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import type { FullCommandForm } from '../command-form.js';
import { persistentArguments } from '../shell-script.js';
import { openShellState, type ShellState } from '../shell-state.js';
import { commandOutput } from './command-output.js';
import { runCommand } from './run-command.js';

const STATE_TOO_LARGE = "\n[the shell's variables and functions take more than 262,144 bytes: this command's are not kept]";

export interface BashRun {
  /** The path of bash, or of another shell where nothing is kept. */
  readonly shell: string;
  readonly command: string;
  readonly cwd: string;
  readonly root: string;
  readonly limitMs: number;
  readonly form: FullCommandForm;
  /** Go on where the last such command of the session ended; `folder`: but there. */
  readonly persistent?: { readonly folder: string | undefined };
}

/** Runs a shell command, in the state of the session where it is persistent. @throws ToolError as `runCommand` does */
export async function runBash(sandbox: Sandbox, run: BashRun, ctx: ToolContext): Promise<ToolOutputObject> {
  const { shell, command, persistent, ...place } = run;
  if (persistent === undefined) return outputOf(sandbox, { ...place, file: shell, args: ['-c', command] }, undefined, ctx);
  const state = await stateOf(shell, run.root, ctx);
  try {
    return await outputOf(sandbox, { ...place, file: shell, args: persistentArguments(command, persistent.folder) }, state, ctx);
  } finally {
    await state.discard();
  }
}

async function outputOf(
  sandbox: Sandbox,
  run: Parameters<typeof runCommand>[1],
  state: ShellState | undefined,
  ctx: ToolContext,
): Promise<ToolOutputObject> {
  const report = await runCommand(sandbox, { ...run, files: state?.files }, ctx);
  const tooLarge = (await state?.keep()) === 'too_large';
  return commandOutput(report, sandbox, run.form, ctx, tooLarge ? STATE_TOO_LARGE : '');
}

function stateOf(shell: string, root: string, { sessionId, callId, attempt }: ToolContext): Promise<ShellState> {
  if (sessionId === undefined)
    throw new ToolError('invalid_arguments', 'persistent needs a session: submit the call with a sessionId, or leave persistent out');
  if (basename(shell) !== 'bash')
    throw new ToolError('unavailable', 'A persistent shell needs bash, which this worker does not have; leave persistent out', {
      retryable: false,
    });
  return openShellState(root, `${callId}.${attempt}`);
}
