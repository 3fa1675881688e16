import { readsScriptFromInput } from './inner-commands.js';
import { actionOf } from './risk-class.js';
import { executableOf, type ParsedCommand, type SubCommand } from './sub-command.js';
import { unknownProgram } from './unread-command.js';

/** The most words that are named. */
const MOST_NAMED = 5;
/** Characters of a word that are compared and shown. */
const MOST_CHARS = 80;

interface HarmfulOption {
  /** Programs with this option. Absent: any program, since the name of the option states its effect. */
  readonly of?: RegExp;
  /** The action of the program that the option belongs to. */
  readonly action?: string;
  readonly option: RegExp;
  readonly does: string;
}

const OPTIONS: readonly HarmfulOption[] = [
  { option: /^--no-preserve-root$/, does: 'removes also the root folder' },
  { option: /^--force(?:[-=].*)?$/, does: 'overrides a protection' },
  { option: /^--delete(?:[-=].*)?$/, does: 'deletes' },
  { option: /^--hard$/, does: 'discards changes that are in no commit' },
  { option: /^--purge$/, does: 'removes settings and data too' },
  { option: /^--privileged$/, does: 'gives a container the rights of its host' },
  { of: /^rm$/, option: /^(?:-[A-Za-z]*[rRf][A-Za-z]*|--recursive)$/, does: 'removes folders with their content, or asks nothing' },
  { of: /^find$/, option: /^-delete$/, does: 'deletes what is found' },
  { of: /^ch(?:mod|own|grp)$/, option: /^(?:-[A-Za-z]*R[A-Za-z]*|--recursive)$/, does: 'changes rights of everything in a folder' },
  { of: /^git$/, action: 'push', option: /^(?:-[A-Za-z]*f[A-Za-z]*|\+.+|--mirror)$/, does: 'overrides what others have pushed' },
  { of: /^git$/, action: 'push', option: /^(?:-d|:.+)$/, does: 'deletes a branch' },
  { of: /^git$/, action: 'clean', option: /^-[A-Za-z]*[dfxX][A-Za-z]*$/, does: 'removes files that are in no commit' },
  { of: /^git$/, action: 'branch', option: /^-D$/, does: 'deletes a branch' },
  { of: /^(?:kubectl|gcloud|az|doctl)$/, option: /^delete$/, does: 'deletes' },
  { of: /^(?:terraform|tofu|pulumi)$/, option: /^destroy$/, does: 'destroys what it has made' },
  { of: /^helm$/, option: /^(?:uninstall|delete)$/, does: 'removes a release' },
  { of: /^aws$/, option: /^(?:rm|rb|terminate-instances|delete-[\w-]+)$/, does: 'deletes' },
  { of: /^(?:docker|podman)$/, option: /^(?:prune|rmi)$/, does: 'deletes' },
  { of: /^(?:python[\d.]*|ruby|perl|node|deno|bun)$/, option: /^(?:-c|-e|--eval)$/, does: 'runs code that is not read here' },
  { of: /^php$/, option: /^-r$/, does: 'runs code that is not read here' },
];

const SQL_PROGRAM = /^(?:psql|mysql|mariadb|sqlite3|sqlcmd|duckdb|clickhouse-client)$/;
const SQL = /\b(?:(?:drop|truncate) {1,4}(?:table|database|schema|view|index|user|role)|delete {1,4}from)\b/gi;

/**
 * Words of a command that destroy, override a protection, or run what was not read, each with what it does:
 * `'--force' overrides a protection`. At most five, each once. Pure.
 */
export function harmfulWords({ commands, source }: ParsedCommand): string[] {
  const found = new Set(commands.flatMap(harmfulWordsOf));
  if (commands.some((command) => SQL_PROGRAM.test(executableOf(command) ?? '')))
    for (const [word] of source.matchAll(SQL)) found.add(`'${word}' deletes data`);
  return [...found].slice(0, MOST_NAMED);
}

function harmfulWordsOf(command: SubCommand): string[] {
  const name = executableOf(command);
  const args = command.words.slice(1).map(({ value }) => value);
  const unread = name !== undefined && readsScriptFromInput(command) ? unknownProgram(command) : undefined;
  const done = name === undefined ? undefined : actionOf(command, name);
  const own = OPTIONS.filter(({ of, action }) => (of?.test(name ?? '') ?? true) && (action === undefined || action === done));
  const words = args.flatMap((arg) => {
    const shown = arg.slice(0, MOST_CHARS);
    const known = own.find(({ option }) => option.test(shown));
    return known === undefined ? [] : [`'${shown}' ${known.does}`];
  });
  return [...(unread === undefined ? [] : [unread]), ...words];
}
