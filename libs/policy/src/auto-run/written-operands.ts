import { executableOf, type ShellWord, type SubCommand } from '../shell/sub-command.js';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Programs that write where their last word says, and those that write where any of their words says. */
const WRITES_LAST = words('cp mv ln link install rsync gcp gmv gln ginstall ffmpeg split script');
const WRITES_ANY = words('tee gtee dd truncate touch mkdir rename');
/** Programs that fetch, edit or unpack files under the names among their words. */
const FETCHES_LAST = words('scp sftp ditto');
const EDITS = words('ed red ex vi vim nvim nano pico emacs sponge patchelf strip objcopy dos2unix unix2dos');
const UNPACKS = words('gunzip uncompress unxz unlzma bunzip2 unzstd gzip xz bzip2 zstd lz4 brotli');
/** Programs that change who may run or write a file. */
const CHANGES_MODE = words('chmod chown chgrp setfacl setcap');

/** Options for editing in place, by program. Perl and ruby write their options in one word. */
const IN_PLACE: Readonly<Record<string, RegExp>> = {
  sed: /^(?:-[nErsuz]*i|--in-place)/,
  gsed: /^(?:-[nErsuz]*i|--in-place)/,
  perl: /^-[acdfhlnpsStTuUvwWX\d]*i/,
  ruby: /^-[acdhlnpsSvwWy\d]*i/,
  awk: /^inplace$/,
  gawk: /^inplace$/,
  yq: /^(?:-i|--inplace)$/,
};
/** Options of many programs whose value is a file or folder that they write. */
const OUTPUT =
  /^(?:-o|-O|--?out(?:[-_]?(?:put|file|dir))?(?:[-_](?:file|document|directory|dir|path))?|--bin-?dir|-f(?:print[f0]?|ls))(?:=|$)/i;
const ATTACHED_OUTPUT = /^-[oO]./;
/** Options of programs that copy with the folder to copy into. */
const TARGET = /^(?:-[A-Za-z]*t|--t[a-z-]*)$/;

/** True if the program copies or makes files: an operand known only when it runs may be any file. */
export function copies(command: SubCommand): boolean {
  const name = executableOf(command) ?? '';
  return WRITES_LAST.has(name) || WRITES_ANY.has(name);
}

/** Words of a command that name files it writes. Empty for unknown programs, except for values of options for outputs. */
export function writtenOperands(command: SubCommand): readonly ShellWord[] {
  const name = executableOf(command) ?? '';
  const all = command.words.slice(1);
  if (name === 'dd') return all.filter(({ value }) => !value.startsWith('if='));
  if (WRITES_ANY.has(name) || EDITS.has(name) || UNPACKS.has(name) || editsInPlace(name, all)) return all;
  if (WRITES_LAST.has(name) || FETCHES_LAST.has(name)) return lastOperands(all);
  return all.filter(({ value }, index) => OUTPUT.test(value) || ATTACHED_OUTPUT.test(value) || OUTPUT.test(all[index - 1]?.value ?? ''));
}

/** The same for files by whose names programs are found: also modes of files, and links to them. */
export function writtenPrograms(command: SubCommand): readonly ShellWord[] {
  const name = executableOf(command) ?? '';
  return CHANGES_MODE.has(name) || name === 'ln' ? command.words.slice(1) : writtenOperands(command);
}

function editsInPlace(name: string, all: readonly ShellWord[]): boolean {
  const option = Object.hasOwn(IN_PLACE, name) ? IN_PLACE[name] : undefined;
  return option !== undefined && all.some(({ value }) => option.test(value));
}

/** The last word, options and the folder to copy into. With options behind the operands, any word may be the last one. */
function lastOperands(all: readonly ShellWord[]): readonly ShellWord[] {
  const first = all.findIndex(({ value }, index) => !value.startsWith('-') && !TARGET.test(all[index - 1]?.value ?? ''));
  const isPermuted = all.slice(first + 1).some(({ value }) => value.startsWith('-'));
  if (first !== -1 && isPermuted) return all;
  return all.filter(({ value }, index) => index === all.length - 1 || value.startsWith('-') || TARGET.test(all[index - 1]?.value ?? ''));
}
