/**
 * Reads back JSON that this library itself wrote into Redis, from values that were typed then. It is not checked again:
 * events are read by the thousand, and a client that can write to this Redis can write anything.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller says what it wrote
export function parseTrustedJson<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where stored text becomes a type
  return JSON.parse(text) as T;
}
