import { extraEffects, writesFiles } from './extra-effects.js';
import { findDangerousCommand } from './dangerous-command.js';
import { isWrapper } from './wrappers.js';
import { actionOf } from './risk-class.js';
import { executableOf, type ParsedCommand, type SubCommand } from './sub-command.js';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Programs that only read, whatever their arguments (their dangerous options are looked for elsewhere). */
const READERS = words(
  'ls cat echo pwd which head tail wc grep egrep fgrep rg find stat file du df uname whoami id date printf true false test [ basename dirname ' +
    'realpath readlink cut tr nl tac rev comm cmp diff sort cd type ps uptime hostname arch nproc md5sum sha1sum sha256sum sha512sum cksum seq column fold jq',
);

/** Wrappers that add nothing to the command that they run. */
const PLAIN_WRAPPERS = words('time timeout nice command stdbuf xargs');

/** Actions that only read, of programs that also do other things; an exception is an argument that makes them act. */
const READING_ACTIONS: Readonly<Record<string, Readonly<Record<string, RegExp | undefined>>>> = {
  git: {
    ...only(
      'status log diff show blame shortlog describe rev-parse rev-list ls-files ls-tree ls-remote cat-file grep whatchanged name-rev merge-base',
      /^--output/,
    ),
    reflog: /^(?:expire|delete|drop|write|--output.*)$/,
    branch: undefined,
    tag: /^-(?:[adfsmFu]|-annotate|-delete|-force)/,
    remote: /^(?:add|remove|rm|rename|set-\w+|prune|update)$/,
    stash: undefined,
    worktree: undefined,
  },
  cargo: only('metadata tree pkgid search version --version locate-project', undefined),
  npm: only('ls list view info outdated search explain why root prefix ping', undefined),
  docker: only('ps images logs inspect version info stats top port diff history', undefined),
  kubectl: only('get describe logs top explain version api-resources api-versions cluster-info', undefined),
  rustup: only('show which', undefined),
};

/** Options of these that only show: without one of them `git branch` with anything else acts. */
const SHOWING_BRANCHES =
  /^(?:-a|-r|-v|-vv|--all|--remotes|--list|-l|--show-current|--merged|--no-merged|--contains|--verbose|--sort=.*|--format=.*|--no-color)$/;

/** Options before the action: others choose a folder, whose configuration may run programs. */
const HARMLESS_FOR_GIT = words('--no-pager --no-optional-locks --literal-pathspecs');

/** Words that must follow these for git to only show. */
const LISTING = new Map([
  ['stash', /^(?:list|show)$/],
  ['worktree', /^list$/],
  ['tag', /^(?:$|-l$|-n|--list$)/],
]);

/** True if a command is known to only read; false in case of doubt. */
export function isReadonly(reading: ParsedCommand): boolean {
  if (findDangerousCommand(reading) !== undefined || reading.commands.length === 0) return false;
  if (reading.features.has('background') || reading.features.has('expansion')) return false;
  return !readsElsewhere(reading) && reading.commands.every((command) => reads(command));
}

/** True if a program that reads settings from its folder is started in another one. */
function readsElsewhere({ commands, elsewhere }: ParsedCommand): boolean {
  const names = commands.map((command) => executableOf(command) ?? '');
  return (elsewhere === true || names.includes('cd')) && names.some((name) => Object.hasOwn(READING_ACTIONS, name));
}

/** True if one command of a command line is known to only read, provided that nothing in the line is dangerous. */
export function reads(command: SubCommand): boolean {
  const name = executableOf(command);
  if (name === undefined || name === '' || command.words[0]?.value !== name) return false;
  if (writesFiles(command) || extraEffects(command) !== '') return false;
  if (READERS.has(name)) return true;
  if (isWrapper(name)) return PLAIN_WRAPPERS.has(name);
  const actions = Object.hasOwn(READING_ACTIONS, name) ? READING_ACTIONS[name] : undefined;
  const action = actionOf(command, name);
  if (actions === undefined || action === undefined || !Object.hasOwn(actions, action)) return false;
  const at = command.words.findIndex(({ value }) => value === action);
  if (name === 'git' && !command.words.slice(1, at).every(({ value }) => HARMLESS_FOR_GIT.has(value))) return false;
  const args = command.words.slice(at + 1).map(({ value }) => value);
  if (name === 'git' && action === 'branch') return args.every((arg) => SHOWING_BRANCHES.test(arg));
  const needed = name === 'git' ? LISTING.get(action) : undefined;
  if (needed !== undefined && !needed.test(args[0] ?? '')) return false;
  const exception = actions[action];
  return exception === undefined || !args.some((arg) => exception.test(arg));
}

function only(actions: string, exception: RegExp | undefined): Record<string, RegExp | undefined> {
  return Object.fromEntries(actions.split(' ').map((action) => [action, exception]));
}
