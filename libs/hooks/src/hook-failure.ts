/**
 * Failure of a hook without a valid answer. The message continues after the hook's name, as in "Hook `x` exited with status 1",
 * and is shown to models and people, without command line, address, header or output of the hook.
 */
export class HookFailure extends Error {
  override readonly name: string = 'HookFailure';
}

/** Failure of a hook until the operator corrects the environment of this process. The missing variable is not shown to models. */
export class HookNotSetUp extends HookFailure {
  override readonly name = 'HookNotSetUp';

  constructor(readonly variable: string) {
    super(' is not set up in the process that runs it; the log of that process says what is missing');
  }
}
