import type { Posture, ToolSubject } from '#contracts';
import type { CallFacts } from '../call-facts.js';
import { readCommand } from '../shell/code.js';
import type { ParsedCommand } from '../shell/sub-command.js';
import { operationOf, type OperationArgument } from './operation.js';

export interface PathArgument {
  readonly path: string;
  readonly access: 'read' | 'write';
}

/** The parts of the arguments that carry risk, read once for all rules. */
export interface RiskArguments {
  readonly commands: readonly ParsedCommand[];
  readonly paths: readonly PathArgument[];
  readonly urls: readonly string[];
  readonly operations: readonly OperationArgument[];
  /** Names of agents that the call would start. */
  readonly agents: readonly string[];
}

/** Risk arguments of tools without subjects. */
export const NO_RISK_ARGUMENTS: RiskArguments = { commands: [], paths: [], urls: [], operations: [], agents: [] };

export function riskArgumentsOf({ tool, args }: Pick<CallFacts, 'tool' | 'args'>): RiskArguments {
  if (tool.subjects.length === 0) return NO_RISK_ARGUMENTS;
  const commands: ParsedCommand[] = [];
  const paths: PathArgument[] = [];
  const urls: string[] = [];
  const operations: OperationArgument[] = [];
  const agents: string[] = [];
  for (const subject of tool.subjects) {
    for (const text of textsOf(args, subject)) {
      switch (subject.kind) {
        case 'command':
          commands.push(readCommand(text, languageOf(subject, args)));
          break;
        case 'path':
          paths.push({ path: text, access: subject.access });
          break;
        case 'url':
          urls.push(text);
          break;
        case 'operation':
          operations.push(operationOf(text, subject, args));
          break;
        case 'agent':
          agents.push(text);
          break;
        default:
          subject satisfies never;
      }
    }
  }
  const isElsewhere = paths.some(({ path }) => !WORKSPACE_ITSELF.test(path));
  return { commands: isElsewhere ? commands.map((it) => ({ ...it, elsewhere: true })) : commands, paths, urls, operations, agents };
}

const WORKSPACE_ITSELF = /^(?:\.?\/?|(?:\.\/)+\.?)$/;

/** Undefined for a shell command. */
function languageOf(
  { language, languageArgument }: Extract<ToolSubject, { kind: 'command' }>,
  args: CallFacts['args'],
): string | undefined {
  if (language !== undefined || languageArgument === undefined) return language;
  const named = fieldOf(args, languageArgument);
  return typeof named === 'string' ? named : 'unknown';
}

/** The text of the argument: itself, the items of an array, or a field of its objects. Other values have none. */
function textsOf(args: CallFacts['args'], subject: ToolSubject): string[] {
  const value = fieldOf(args, subject.argument);
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const field = 'field' in subject ? subject.field : undefined;
  return values.map((it) => (field === undefined ? it : fieldOf(it, field))).filter((it) => typeof it === 'string');
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, field) ? Reflect.get(value, field) : undefined;
}

/** True if no person watches this session. No rule then asks for approval; dangerous calls must be denied. */
export function isUnattended({ autonomy, permissionMode }: Posture): boolean {
  return permissionMode === 'allow' || (autonomy === 'full' && permissionMode === 'danger-full-access');
}

/** True if the rules that ask for approval apply to the commands of this call. */
export function commandRulesApply({ policy, posture }: Pick<CallFacts, 'policy' | 'posture'>): boolean {
  return policy.commands.enforce === 'always' || !isUnattended(posture);
}
