/** Wrong usage of the program; the message says what is expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
