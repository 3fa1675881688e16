const COMMAND = /"command":"((?:[^"\\]|\\.)*)/;

/** Prefixes of the program: change of folder, settings of the shell, variables, wrappers such as `sudo`. */
const BEFORE =
  /^(?:(?:cd|pushd|set|export)\s[^;&|\n]*(?:&&|[;\n])|\w+=[^\s;&|]*\s|(?:sudo|env|time|nohup|exec|command|nice|timeout\s+\S+)\s|[\s({]+)\s*/;
const MOST_BEFORE = 16;

/** Name of the first program of a command, without its folder; empty if there is no command. `preview` may be cut anywhere. */
export function programOf(preview: string): string {
  let command = commandIn(preview);
  for (let n = 0; n < MOST_BEFORE && BEFORE.test(command); n += 1) command = command.replace(BEFORE, '');
  return (/^[^\s;&|()<>]+/.exec(command)?.[0] ?? '').split('/').at(-1) ?? '';
}

function commandIn(preview: string): string {
  const jsonText = COMMAND.exec(preview)?.[1] ?? '';
  try {
    return String(JSON.parse(`"${jsonText}"`));
  } catch {
    return jsonText; // The preview is cut within an escape.
  }
}
