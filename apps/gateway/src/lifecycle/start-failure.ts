/** Why the gateway does not start: one sentence for a person, saying what is wrong and what to do. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
