/** Why a worker does not start, in a sentence for the person who can cure it. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
