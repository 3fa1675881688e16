import type { JsonValue, ToolSubject } from '#contracts';
import { diffRows, foldRows, subjectParts, type Side, type SubjectPart } from '#subject';
import type { Terminal } from './terminal.js';
import { inLine } from './visible-text.js';

/**
 * The arguments of a call as lines of a terminal: the whole command with its line ends, changes as coloured diffs, then the rest.
 * `writtenOut`: hidden characters may be written as `\u{202E}`, as where a person is asked.
 */
export function argumentLines(args: JsonValue, subjects: readonly ToolSubject[], terminal: Terminal, writtenOut: boolean): string[] {
  const show = (text: string) => terminal.visible(text, writtenOut);
  return subjectParts(args, subjects).flatMap((part) => linesOf(part, show, terminal));
}

function linesOf(part: SubjectPart, show: (text: string) => string, terminal: Terminal): string[] {
  const dim = (text: string) => terminal.colour('dim', text);
  switch (part.kind) {
    case 'command':
      return split(show(part.text)).map((line, index) => `${dim(index === 0 ? '$' : ' ')} ${terminal.colour('bold', line)}`);
    case 'path':
    case 'url':
      return [`${dim(inLine(show(part.name)))} ${inLine(show(part.text))}`];
    case 'edit':
      return diffLines(show(part.before), show(part.after), terminal);
    case 'patch':
      return split(show(part.text)).map((line) => patchLine(line, terminal));
    case 'text':
      return [dim(inLine(show(part.name))), ...split(show(part.text)).map((line) => `  ${line}`)];
    case 'value':
      return [`${dim(inLine(show(part.name)))} ${inLine(show(typeof part.value === 'string' ? part.value : JSON.stringify(part.value)))}`];
    default:
      return part satisfies never;
  }
}

/** `+2 -1` and the changed lines with their neighbours. */
function diffLines(before: string, after: string, terminal: Terminal): string[] {
  const { rows, added, removed } = diffRows(before, after);
  const lines = [terminal.colour('dim', `+${added} -${removed}`)];
  let gone: string[] = [];
  let come: string[] = [];
  const flush = () => {
    lines.push(...gone, ...come);
    [gone, come] = [[], []];
  };
  for (const row of foldRows(rows)) {
    if (row.kind === 'changed') {
      if (row.before) gone.push(terminal.colour('red', `- ${textOf(row.before)}`));
      if (row.after) come.push(terminal.colour('green', `+ ${textOf(row.after)}`));
      continue;
    }
    flush();
    lines.push(row.kind === 'fold' ? terminal.colour('dim', `  … ${row.lines} equal lines`) : `  ${textOf(row.after)}`);
  }
  flush();
  return lines;
}

function textOf(side: Side | undefined): string {
  return side?.spans.map(({ text }) => text).join('') ?? '';
}

function patchLine(line: string, terminal: Terminal): string {
  if (/^(\+\+\+|---|@@|diff |Index: )/.test(line)) return terminal.colour('dim', line);
  if (line.startsWith('+')) return terminal.colour('green', line);
  return line.startsWith('-') ? terminal.colour('red', line) : line;
}

function split(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}
