/** The same value without the texts of secrets, which a source may send back; also in names of fields. */
export function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  const text = JSON.stringify(value);
  const found = secrets.filter((secret) => secret.length >= 4 && text.includes(JSON.stringify(secret).slice(1, -1)));
  if (found.length === 0) return value;
  const clean = (dirty: string) => found.reduce((left, secret) => left.replaceAll(secret, '[REDACTED]'), dirty);
  const revived: unknown = JSON.parse(text, (_, it: unknown) => {
    if (typeof it === 'string') return clean(it);
    if (typeof it !== 'object' || it === null || Array.isArray(it)) return it;
    return Object.fromEntries(Object.entries(it).map(([name, field]) => [clean(name), field]));
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape is the same: only texts change
  return revived as T;
}
