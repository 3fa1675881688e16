import type { JsonValue, ToolSubject } from '#contracts';

/** A piece of the arguments of a call, in the way in which a person reads it. */
export type SubjectPart =
  | Subject
  /** `before` in a file, or in another text of the arguments, becomes `after`. */
  | { readonly kind: 'edit'; readonly name: string; readonly before: string; readonly after: string }
  | { readonly kind: 'patch'; readonly name: string; readonly text: string }
  /** A text of several lines; `path` names its language. */
  | { readonly kind: 'text'; readonly name: string; readonly text: string; readonly path: string | undefined }
  | { readonly kind: 'value'; readonly name: string; readonly value: JsonValue };

interface Subject {
  readonly kind: 'command' | 'url' | 'path';
  readonly name: string;
  readonly text: string;
}

/** Names of the text that an edit removes, and of the one that takes its place. */
const EDITS = [
  ['old_text', 'new_text'],
  ['old_string', 'new_string'],
  ['old_str', 'new_str'],
  ['oldText', 'newText'],
] as const;

/** Arguments of a call as parts: risk-bearing ones first, in the order of the tool's subjects; then changes, then the rest. */
export function subjectParts(args: JsonValue, subjects: readonly ToolSubject[]): SubjectPart[] {
  if (!isObject(args)) return [{ kind: 'value', name: '', value: args }];
  const left = new Map(Object.entries(args));
  const first = subjects.flatMap((subject) => takeSubject(left, subject));
  const path = first.find((part) => part.kind === 'path')?.text;
  return [...first, ...takeEdits(left), ...[...left].map(([name, value]) => restOf(name, value, path))];
}

function takeSubject(left: Map<string, JsonValue>, subject: ToolSubject): Subject[] {
  const { argument: name, kind } = subject;
  const value = left.get(name);
  if (value === undefined || 'field' in subject || !(kind === 'command' || kind === 'url' || kind === 'path')) return [];
  const texts = Array.isArray(value) ? value : [value];
  if (!texts.every((text) => typeof text === 'string')) return [];
  left.delete(name);
  return texts.map((text) => ({ kind, name, text }));
}

function takeEdits(left: Map<string, JsonValue>): SubjectPart[] {
  const single = editIn(Object.fromEntries(left));
  for (const name of single?.names ?? []) left.delete(name);
  const own: SubjectPart[] = single ? [{ kind: 'edit', name: 'change', before: single.before, after: single.after }] : [];
  const list = left.get('edits');
  if (!Array.isArray(list) || list.length === 0) return own;
  const several = list.flatMap((item, index): SubjectPart[] => {
    const edit = isObject(item) && Object.keys(item).length === 2 ? editIn(item) : undefined;
    return edit ? [{ kind: 'edit', name: `change ${index + 1}`, before: edit.before, after: edit.after }] : [];
  });
  // Lists with other kinds of edits, such as an insertion, are shown unchanged.
  if (several.length < list.length) return own;
  left.delete('edits');
  return [...own, ...several];
}

function editIn(args: Readonly<Record<string, JsonValue>>) {
  for (const names of EDITS) {
    const [before, after] = names.map((name) => (Object.hasOwn(args, name) ? args[name] : undefined));
    if (typeof before === 'string' && typeof after === 'string') return { names, before, after };
  }
  return undefined;
}

function restOf(name: string, value: JsonValue, path: string | undefined): SubjectPart {
  if (typeof value !== 'string') return { kind: 'value', name, value };
  const isPatch = (/^(diff --git |--- |Index: )/m.test(value) && /^@@ /m.test(value)) || /^\*\*\* Begin Patch$/m.test(value);
  if (isPatch) return { kind: 'patch', name, text: value };
  return value.includes('\n') ? { kind: 'text', name, text: value, path } : { kind: 'value', name, value };
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
