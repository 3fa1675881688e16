import type { SubCommand } from './sub-command.js';

/** Options without a value; behind another one any word may be a script. */
const PLAIN_OPTION = /^-[nErsuz]+$|^--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug|sandbox)$/;
const LONGEST_SCRIPT = 2_000;
const ADDRESS = String.raw`(?:\d+|\$|/(?:\\.|[^\\/\n])*/)`;
const SUBSTITUTION = String.raw`s([^\w\s\\;])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gpiImM\d]*`;
/** Command that only writes to the output, with its end. */
// oxlint-disable-next-line no-restricted-globals -- of constants only, put together to be readable; no alternative overlaps another
const COMMAND = new RegExp(
  String.raw`[ \t;\n]*(?:(?:${ADDRESS}(?:,${ADDRESS})?)?[ \t]*!?[ \t]*(?:${SUBSTITUTION}|[pdqQ=DGgHhNnPx]))?[ \t]*(?:[;\n]|$)`,
  'y',
);

/** True if a sed script may run commands or write files; false only for scripts known to only write to the output. */
export function sedActs({ words }: SubCommand): boolean {
  return scriptsOf(words.slice(1).map(({ value }) => value)).some((script) => !onlyWritesOutput(script));
}

function scriptsOf(args: readonly string[]): string[] {
  const given: string[] = [];
  const plain: string[] = [];
  let ended = false;
  let isPlain = true;
  for (let at = 0; at < args.length; at++) {
    const value = args[at] ?? '';
    const option = ended ? null : /^(?:-[nErsuz]*e|--e[a-z]*(?:=|$))(.*)$/s.exec(value);
    if (option !== null) given.push(option[1] === '' ? (args[++at] ?? '') : (option[1] ?? ''));
    else if (!ended && value === '--') ended = true;
    else if (ended || !value.startsWith('-')) plain.push(value);
    else isPlain &&= PLAIN_OPTION.test(value);
  }
  if (!isPlain) return [...given, ...plain];
  return given.length === 0 || ended ? [...given, ...plain.slice(0, 1)] : given;
}

function onlyWritesOutput(script: string): boolean {
  if (script.length > LONGEST_SCRIPT) return false;
  COMMAND.lastIndex = 0;
  while (COMMAND.lastIndex < script.length) if (!COMMAND.test(script)) return false;
  return true;
}
