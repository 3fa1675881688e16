import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call, ToolSubject } from '#contracts';
import { readObject, type CallArguments } from '../call-arguments.js';
import { UsageError } from '../usage-error.js';

/**
 * Arguments as edited with VISUAL, EDITOR or vi: a command as a script, others as JSON. Undefined without a change.
 *
 * @throws UsageError if the editor fails, or if its result is no JSON object
 */
export function editArguments(
  call: Pick<Call, 'arguments'>,
  subjects: readonly ToolSubject[],
  env: NodeJS.ProcessEnv,
): CallArguments | undefined {
  const args = readObject(JSON.stringify(call.arguments), () => '');
  const commands = subjects.flatMap(({ kind, argument }) => (kind === 'command' ? textOf(argument, args[argument]) : []));
  const [command] = commands;
  if (command === undefined || commands.length > 1) {
    const before = `${JSON.stringify(args, null, 2)}\n`;
    const after = editText(before, 'arguments.json', env);
    return after === before ? undefined : readObject(after, () => '');
  }
  const before = `${command.text}\n`;
  const after = editText(before, 'command.sh', env);
  return after === before ? undefined : { ...args, [command.name]: after.replace(/\n$/, '') };
}

function textOf(name: string, value: unknown): { name: string; text: string }[] {
  return typeof value === 'string' ? [{ name, text: value }] : [];
}

function editText(text: string, name: string, env: NodeJS.ProcessEnv): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-edit-'));
  const file = join(folder, name);
  const editor = env['VISUAL'] || env['EDITOR'] || 'vi';
  try {
    writeFileSync(file, text, { mode: 0o600 });
    // Shell as in git: the variable may contain arguments of the editor.
    const { status, error } = spawnSync('sh', ['-c', `${editor} "$1"`, editor, file], { stdio: 'inherit', env });
    if (status !== 0)
      throw new UsageError(
        `The editor ${JSON.stringify(editor)} failed${error === undefined ? '' : `: ${error.message}`}; EDITOR names another`,
      );
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
