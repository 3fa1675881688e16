/** The same output without the values of secrets, which a source may send back. */
export function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  const text = JSON.stringify(value);
  const found = secrets
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .filter((secret) => secret.length >= 4 && text.includes(secret));
  if (found.length === 0) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape is the same: only texts change
  return JSON.parse(found.reduce((clean, secret) => clean.replaceAll(secret, '[REDACTED]'), text)) as T;
}
