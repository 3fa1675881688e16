/** The text that the first command of a transaction of Redis read. */
export function firstText(answers: readonly (readonly [unknown, unknown])[] | null): string | undefined {
  const text = answers?.[0]?.[1];
  return typeof text === 'string' ? text : undefined;
}
