/** Why a process does not start, in a sentence (or a list of faults) for the person who can cure it. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
