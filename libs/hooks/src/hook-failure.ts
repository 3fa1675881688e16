/**
 * A hook gave no answer that counts. The message goes on after the hook's name, as in "Hook `x` exited with status 1", and
 * is shown to models and people: no command line, no address, no header, no output of the hook.
 */
export class HookFailure extends Error {
  override readonly name = 'HookFailure';
}
