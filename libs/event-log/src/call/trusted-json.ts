/**
 * Reads JSON that this library wrote into Redis from typed values. Does not validate: events are read by the thousand, and a
 * client with write access to this Redis can write anything.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller says what it wrote
export function parseTrustedJson<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where stored text becomes a type
  return JSON.parse(text) as T;
}
