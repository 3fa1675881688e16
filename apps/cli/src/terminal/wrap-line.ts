/**
 * A line as lines of at most `width` characters, broken at blanks where there are some. Lines after the first are indented by
 * `hanging`, which is two more than the first by default.
 */
export function wrapLine(line: string, width: number, hanging = line.search(/\S|$/) + 2): string[] {
  const lines: string[] = [];
  const next = Math.min(hanging, Math.floor(width / 2));
  let rest = Array.from(line);
  while (rest.length > width) {
    const indent = lines.length === 0 ? line.search(/\S|$/) : next;
    const blank = rest.slice(0, width + 1).lastIndexOf(' ');
    const at = blank > indent ? blank : width;
    lines.push(rest.slice(0, at).join('').trimEnd());
    rest = Array.from(' '.repeat(next) + rest.slice(at).join('').trimStart());
  }
  return [...lines, rest.join('')];
}
