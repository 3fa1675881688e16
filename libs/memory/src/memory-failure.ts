/** Failure to store or find memories; the message is for the model. */
export class MemoryFailure extends Error {
  override readonly name = 'MemoryFailure';

  constructor(
    readonly code: 'unavailable' | 'quota_exceeded' | 'not_found' | 'conflict',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
