/** Environment without empty variables: `NAME=` in a shell or compose file means "not set". */
export function withoutEmpty(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}

/** Parts of a comma-separated text, trimmed, without empty ones. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
