/** Failure before any command was started on a host. */
export interface SshFailure {
  /** Reason for the model and for people, without address and path. */
  readonly reason: string;
  /** Another attempt may succeed without a change of host or configuration. */
  readonly transient: boolean;
}

const KNOWN: readonly (readonly [RegExp, SshFailure])[] = [
  [
    /Host key verification failed|HOST IDENTIFICATION HAS CHANGED/i,
    { reason: 'its key is not one of `hostKeys` in the configuration', transient: false },
  ],
  [
    /Load key |UNPROTECTED PRIVATE KEY|no such identity/i,
    { reason: 'the worker cannot read the configured private key', transient: false },
  ],
  [/Permission denied/i, { reason: 'it refuses the configured user or key', transient: false }],
  [/Could not resolve hostname/i, { reason: 'its name is not known', transient: true }],
  [/Connection refused/i, { reason: 'it refuses connections', transient: true }],
  [/timed out/i, { reason: 'it does not respond', transient: true }],
  [/No route to host|Network is unreachable/i, { reason: 'there is no way to it', transient: true }],
];

/** Reads the output of ssh, or of the account's login, before any run. `code`: exit code of the local ssh. */
export function sshFailure(said: string, code: string): SshFailure {
  const known = KNOWN.find(([pattern]) => pattern.test(said))?.[1];
  if (known !== undefined) return known;
  if (code.endsWith(' 127')) return { reason: 'the account has no bash', transient: false };
  return { reason: 'the connection was closed before the command was started', transient: true };
}
