import type { JsonValue } from '#contracts';

type Arguments = Readonly<Record<string, JsonValue>>;

export interface ChangedArgument {
  readonly name: string;
  /** Texts as they are, other values as JSON; empty where there is none. */
  readonly before: string;
  readonly after: string;
}

/** Arguments that differ, in the order in which they were asked for; those that were added come last. */
export function changedArguments(asked: Arguments, edited: Arguments): ChangedArgument[] {
  const names = new Set([...Object.keys(asked), ...Object.keys(edited)]);
  return [...names]
    .map((name) => ({ name, before: textOf(asked, name), after: textOf(edited, name) }))
    .filter(({ name, before, after }) => before !== after || typeof asked[name] !== typeof edited[name]);
}

function textOf(args: Arguments, name: string): string {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
