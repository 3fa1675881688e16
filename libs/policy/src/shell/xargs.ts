import { actionOf } from './risk-class.js';
import { executableOf, type SubCommand } from './sub-command.js';
import { readWrapper } from './wrappers.js';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Programs that only read, whatever arguments come. */
const READERS = words(
  'grep egrep fgrep cat ls wc head tail echo stat basename dirname realpath readlink du md5sum sha1sum sha256sum sha512sum',
);
/** Programs that only read if all added arguments are names of files, behind `--`. */
const READERS_OF_FILES = words('file rg sort');
const GIT_ACTIONS = words('log diff show grep blame');
/** Wrappers in which no added argument can become a command or a variable. */
const FOLLOWED = words('time timeout nice nohup command stdbuf');
/** Allowed placeholders of `-I`, absent from names of programs and options. */
const MARKS = words('{} % @');

/** True if all commands that xargs may run are known to only read. The added arguments are unknown. */
export function xargsOnlyReads(command: SubCommand): boolean {
  const { inner, certain } = readWrapper(command);
  const options = command.words.slice(1, command.words.length - inner.length).map(({ value }) => value);
  return certain && options.every((option, at) => isHarmlessOption(option, options[at + 1])) && readsMore({ ...command, words: inner });
}

function isHarmlessOption(option: string, next: string | undefined): boolean {
  if (option.startsWith('--process-slot-var')) return false;
  const replaced = /^-[0rtpxo]*I(.*)$/s.exec(option)?.[1] ?? /^(?:-[0rtpxo]*i|--replace=)(.+)$/s.exec(option)?.[1];
  return replaced === undefined || MARKS.has(replaced === '' ? (next ?? '') : replaced);
}

/** True if the command only reads, even with more arguments. */
function readsMore(command: SubCommand): boolean {
  const name = executableOf(command);
  if (name === undefined || command.words[0]?.value !== name) return false;
  if (READERS.has(name)) return true;
  if (FOLLOWED.has(name)) {
    const { inner, certain } = readWrapper(command);
    return certain && readsMore({ ...command, words: inner });
  }
  if (!command.words.some(({ value }) => value === '--')) return false;
  if (READERS_OF_FILES.has(name)) return true;
  return name === 'git' && GIT_ACTIONS.has(command.words[1]?.value ?? '') && actionOf(command, name) === command.words[1]?.value;
}
