import type { SandboxName } from './sandbox.port.js';

/** Facts that determine the process limit of a command. */
export interface ProcessLimitFacts {
  readonly platform: NodeJS.Platform;
  /** The worker may make control groups with a limit of processes. */
  readonly hasControlGroups: boolean;
  readonly isRoot: boolean;
  readonly sandbox: SandboxName;
  /** The sandbox runs commands as another user than the worker. */
  readonly asOtherUser: boolean;
}

/**
 * Warning if nothing stops a fork bomb between two checks of a command's processes: neither the limit of bubblewrap's user
 * namespace, for another user than root, nor a control group. User limits never apply to root, in any namespace. Pure.
 */
export function processLimitWarning({ platform, hasControlGroups, isRoot, sandbox, asOtherUser }: ProcessLimitFacts): string | undefined {
  if (platform !== 'linux' || hasControlGroups) return undefined;
  if (sandbox === 'bubblewrap' && (!isRoot || asOtherUser)) return undefined;
  const why = isRoot
    ? 'the worker runs as root and may make no control groups'
    : 'commands run on the host, and the worker may make no control groups';
  const fix = isRoot ? 'Run it as another user, or give it a writable cgroup with the controller pids' : 'SANDBOX=bubblewrap enforces it';
  return `The number of processes of a command is checked twenty times a second, not enforced by the kernel: ${why}. ${fix}`;
}
