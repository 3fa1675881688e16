import { parse } from 'partial-json';
import type { ToolSubject } from '#contracts';

/** Arguments with the search terms of a tool. */
const WANTED = ['pattern', 'query', 'regex'];

/**
 * The subject of a call in one line: `$ npm test`, `src/login.ts`, `TODO in src`, else its arguments as `name: value`. `preview` is
 * the beginning of the arguments as JSON text and may be cut anywhere; `subjects` are those of the tool.
 */
export function subjectText(preview: string, subjects: readonly ToolSubject[] = []): string {
  const args = readArguments(preview);
  if (args === undefined) return preview;
  const command = subjects.find(({ kind }) => kind === 'command');
  if (command !== undefined && typeof args[command.argument] === 'string') return `$ ${lineOf(args[command.argument])}`;
  const places = subjects.flatMap((subject) => textsOf(valuesOf(args[subject.argument], 'field' in subject ? subject.field : undefined)));
  const wanted = WANTED.flatMap((name) => textsOf(args[name]));
  const parts = [wanted.join(' '), places.join(' ')].filter((part) => part !== '');
  if (parts.length > 0) return parts.join(' in ');
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${lineOf(value)}`)
    .join('  ');
}

function readArguments(preview: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parse(preview);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The field of each object of a list; without a field the value itself. */
function valuesOf(value: unknown, field: string | undefined): unknown {
  if (field === undefined || !Array.isArray(value)) return value;
  return value.map((it: unknown): unknown => (typeof it === 'object' && it !== null ? Reflect.get(it, field) : undefined));
}

function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return typeof value === 'string' && value !== '' ? [lineOf(value)] : [];
}

function lineOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.trim().replace(/\s*\n\s*/g, ' ⏎ ');
}
