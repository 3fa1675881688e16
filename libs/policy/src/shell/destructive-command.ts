import { executableOf, type ParsedCommand, type SubCommand } from './sub-command.js';

/** Destructive part of a command, as written in the usual deny list; undefined if there is none. */
export function findDestructiveCommand(reading: ParsedCommand): string | undefined {
  if (reading.forkBomb) return ':(){ :|:& };:';
  for (const command of reading.commands) {
    const found = destructiveCommandOf(command);
    if (found !== undefined) return found;
  }
  return reading.fault === undefined ? undefined : destructiveText(reading.source);
}

function destructiveCommandOf(command: SubCommand): string | undefined {
  const name = executableOf(command);
  const args = command.words.slice(1).map(({ value }) => value);
  if (name === 'rm') return removesEverything(args);
  if (name !== undefined && /^mkfs(?:\.|$)/.test(name)) return 'mkfs';
  if (name === 'dd' && args.some((arg) => arg.startsWith('if='))) return 'dd if=';
  // Signal -1 is the first word; any later -1 means every process that the user may end.
  if (name === 'kill' && args.indexOf('-1', 1) !== -1) return 'kill -9 -1';
  return undefined;
}

function removesEverything(args: readonly string[]): string | undefined {
  const end = args.indexOf('--');
  const options = args.filter((arg, index) => arg.startsWith('-') && (end === -1 || index < end));
  const recursive = options.some((it) => it === '--recursive' || /^-[A-Za-z]*[rR]/.test(it));
  const target = args.map((arg) => arg.replaceAll(/\/+/g, '/')).find((arg) => arg === '/' || arg === '/*' || arg === '/.');
  if (!recursive || target === undefined) return undefined;
  return target === '/*' ? 'rm -rf /*' : 'rm -rf /';
}

/** A command that cannot be read may still be recognised by its words. */
function destructiveText(text: string): string | undefined {
  for (const part of text.split(/[;&|\r\n(){}`]/)) {
    const words = part.split(/\s+/).map((word) => ({ value: word.replaceAll(/["'\\]/g, ''), dynamic: false }));
    for (const name of ['rm', 'mkfs', 'dd', 'kill']) {
      const at = words.findIndex(({ value }) => value === name || value.endsWith(`/${name}`) || value.startsWith('mkfs.'));
      const found =
        at === -1 ? undefined : destructiveCommandOf({ words: words.slice(at), assignments: [], redirects: [], text: part, inner: true });
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
