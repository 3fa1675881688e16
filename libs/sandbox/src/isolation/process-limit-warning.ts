import type { SandboxName } from './sandbox.port.js';

/** What the limit of processes of a command depends on. */
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
 * What stops a fork bomb between two looks at the processes of a command: the limit of the user namespace that bubblewrap makes
 * for another user than root, or a control group. Root is held to no limit of users, in whatever namespace. Pure.
 */
export function processLimitWarning({ platform, hasControlGroups, isRoot, sandbox, asOtherUser }: ProcessLimitFacts): string | undefined {
  if (platform !== 'linux' || hasControlGroups) return undefined;
  if (sandbox === 'bubblewrap' && (!isRoot || asOtherUser)) return undefined;
  const why = isRoot
    ? 'the worker runs as root and may make no control groups'
    : 'commands run on the host, and the worker may make no control groups';
  const fix = isRoot ? 'Run it as another user, or give it a writable cgroup with the controller pids' : 'SANDBOX=bubblewrap holds it';
  return `The number of processes of a command is looked at twenty times a second and not held by the kernel: ${why}. ${fix}`;
}
