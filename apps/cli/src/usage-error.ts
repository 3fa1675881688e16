/** Wrong use of the program, with what to do instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
