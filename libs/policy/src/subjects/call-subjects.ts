import type { Posture } from '#contracts';
import type { CallFacts } from '../call-facts.js';
import { readCommand } from '../shell/read-command.js';
import type { CommandReading } from '../shell/sub-command.js';

export interface PathSubject {
  readonly path: string;
  readonly access: 'read' | 'write';
}

/** The parts of the arguments that carry risk, read once for all rules. */
export interface CallSubjects {
  readonly commands: readonly CommandReading[];
  readonly paths: readonly PathSubject[];
  readonly urls: readonly string[];
}

const NONE: CallSubjects = { commands: [], paths: [], urls: [] };

export function subjectsOf({ tool, args }: Pick<CallFacts, 'tool' | 'args'>): CallSubjects {
  if (tool.subjects.length === 0) return NONE;
  const commands: CommandReading[] = [];
  const paths: PathSubject[] = [];
  const urls: string[] = [];
  for (const subject of tool.subjects) {
    for (const text of textsOf(args, subject.argument)) {
      if (subject.kind === 'command') commands.push(readCommand(text));
      else if (subject.kind === 'path') paths.push({ path: text, access: subject.access });
      else urls.push(text);
    }
  }
  return { commands, paths, urls };
}

/** A text, or the texts of an array; anything else has nothing to judge. */
function textsOf(args: CallFacts['args'], argument: string): string[] {
  const value = Object.hasOwn(args, argument) ? args[argument] : undefined;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((it) => typeof it === 'string');
}

/** Nobody watches this session: what may not run must be denied by name, since nothing is asked. */
export function isUnattended({ autonomy, permissionMode }: Posture): boolean {
  return permissionMode === 'allow' || (autonomy === 'full' && permissionMode === 'danger-full-access');
}

/** Whether the rules that ask speak about this call's commands. */
export function commandRulesApply({ policy, posture }: Pick<CallFacts, 'policy' | 'posture'>): boolean {
  return policy.commands.enforce === 'always' || !isUnattended(posture);
}
