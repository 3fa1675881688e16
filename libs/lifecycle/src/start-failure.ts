/** Why a process does not start, in a sentence (or a list of faults) for the person who can cure it. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
