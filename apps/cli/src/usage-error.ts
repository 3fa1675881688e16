/** Wrong usage of the program; the message has the expected form. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
