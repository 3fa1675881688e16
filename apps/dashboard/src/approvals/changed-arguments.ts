import type { JsonValue } from '#contracts';

type Arguments = Readonly<Record<string, JsonValue>>;

export interface ChangedArgument {
  readonly name: string;
  /** Texts unquoted, other values as JSON; empty without a value. */
  readonly before: string;
  readonly after: string;
}

/** Changed arguments in their order in the request; added ones come last. */
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
