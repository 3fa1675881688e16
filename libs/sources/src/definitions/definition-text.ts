import type { StoredSource } from '#contracts';

/** The same for the same definition, whether it was authorized meanwhile or not. */
export function definitionText(source: StoredSource | undefined): string | undefined {
  return source && JSON.stringify({ ...source, authorized: undefined });
}
