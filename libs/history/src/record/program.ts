const COMMAND = /"command":"((?:[^"\\]|\\.)*)/;

/** Words before the program: another folder, settings of the shell, variables, programs that run one. */
const BEFORE =
  /^(?:(?:cd|pushd|set|export)\s[^;&|\n]*(?:&&|[;\n])|\w+=[^\s;&|]*\s|(?:sudo|env|time|nohup|exec|command|nice|timeout\s+\S+)\s|[\s({]+)\s*/;
const MOST_BEFORE = 16;

/** The name of the first program of a command, without its folder; empty for what is no command. `preview` may be cut anywhere. */
export function programOf(preview: string): string {
  let command = commandIn(preview);
  for (let n = 0; n < MOST_BEFORE && BEFORE.test(command); n += 1) command = command.replace(BEFORE, '');
  return (/^[^\s;&|()<>]+/.exec(command)?.[0] ?? '').split('/').at(-1) ?? '';
}

function commandIn(preview: string): string {
  const written = COMMAND.exec(preview)?.[1] ?? '';
  try {
    return String(JSON.parse(`"${written}"`));
  } catch {
    return written; // Cut within an escape.
  }
}
