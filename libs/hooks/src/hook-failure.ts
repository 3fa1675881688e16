/**
 * A hook gave no answer that counts. The message goes on after the hook's name, as in "Hook `x` exited with status 1", and
 * is shown to models and people: no command line, no address, no header, no output of the hook.
 */
export class HookFailure extends Error {
  override readonly name: string = 'HookFailure';
}

/** A hook that cannot run in this process until the operator mends the environment. Models do not read which variable is missing. */
export class HookNotSetUp extends HookFailure {
  override readonly name = 'HookNotSetUp';

  constructor(readonly variable: string) {
    super(' is not set up in the process that runs it; the log of that process says what is missing');
  }
}
