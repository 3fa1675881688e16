import picomatch from 'picomatch';

const MOST_REMEMBERED = 2_000;
const compiled = new Map<string, (text: string) => boolean>();

/** Whether a glob matches the whole text; a hidden name is a name like others. Compiled once and remembered. Never throws. */
export function globMatches(pattern: string, text: string): boolean {
  let test = compiled.get(pattern);
  if (test === undefined) {
    if (compiled.size >= MOST_REMEMBERED) compiled.clear();
    test = compile(pattern);
    compiled.set(pattern, test);
  }
  return test(text);
}

function compile(pattern: string): (text: string) => boolean {
  try {
    const matches = picomatch(pattern, { dot: true, nonegate: true });
    return (text) => text === pattern || matches(text);
  } catch {
    return (text) => text === pattern;
  }
}
