import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { findExecutable } from './find-executable.js';
import { limitOptions, limitCommandPrefix, type ResourceLimits } from './resource-limits.js';

/**
 * Method to recognise the processes of one run at any place in the process tree.
 *
 * A process group is not enough: `setsid` leaves it. Every descendant inherits resource limits, and nothing clears them by
 * accident, so each run gets a unique RLIMIT_RTTIME (microseconds of CPU for real-time tasks; the values mean thousands of
 * years, without effect). The limit outlives fork, exec, setsid and an emptied environment. Without `prlimit`, or if the kernel
 * does not show limits, an environment variable marks the run instead, which a program with a cleared environment escapes.
 * Against a program that hides on purpose a real sandbox is required.
 */
export interface ProcessTagMethod {
  readonly kind: 'rlimit' | 'environment' | 'none';
  /** Words before the command that put the mark and the given limits on it. */
  readonly commandPrefix: (tag: string, limits?: ResourceLimits) => readonly string[];
  readonly env: (tag: string) => Readonly<Record<string, string>>;
  /** File in `/proc/<pid>/` that shows the mark, and how a tag looks in it; `tag` may be a pattern for grep. */
  readonly file: string;
  readonly format: (tag: string) => string;
}

const VARIABLE = 'TOOLYARD_RUN';
const OWNER = String(randomInt(100_000_000, 1_000_000_000));
let lastRun = 100_000_000;
let detected: ProcessTagMethod | undefined;

/** A tag no other run on this machine has: nine digits for this process, nine for the run. */
export function newTag(): string {
  lastRun = lastRun === 999_999_999 ? 100_000_000 : lastRun + 1;
  return `${OWNER}${lastRun}`;
}

/** A grep pattern (basic regular expression) for the tags of all runs of this process. */
export const OWN_TAGS = `${OWNER}[0-9]\\{9\\}`;

/** The best mark this machine supports; tried once, by marking a process and reading the mark back. */
export function processTagMethod(): ProcessTagMethod {
  detected ??= process.platform === 'linux' ? (rlimitMethod() ?? environmentMethod() ?? NO_METHOD) : NO_METHOD;
  return detected;
}

export function hasTag(pid: number, mark: ProcessTagMethod, tag: string): boolean {
  if (mark.kind === 'none') return false;
  try {
    return readFileSync(`/proc/${pid}/${mark.file}`, 'latin1').includes(mark.format(tag));
  } catch {
    return false;
  }
}

const onlyLimits: ProcessTagMethod['commandPrefix'] = (_tag, limits) => (limits ? limitCommandPrefix(limits) : []);

const NO_METHOD: ProcessTagMethod = { kind: 'none', commandPrefix: onlyLimits, env: () => ({}), file: '', format: () => '' };

function rlimitMethod(): ProcessTagMethod | undefined {
  const prlimit = findExecutable(['prlimit']);
  if (prlimit === undefined) return undefined;
  const mark: ProcessTagMethod = {
    kind: 'rlimit',
    commandPrefix: (tag, limits) => [prlimit, `--rttime=${tag}:${tag}`, ...(limits ? limitOptions(limits) : []), '--'],
    env: () => ({}),
    file: 'limits',
    format: (tag) => `Max realtime timeout      ${tag}   `,
  };
  const tag = newTag();
  const probe = spawnSync('/usr/bin/env', [...mark.commandPrefix(tag), 'cat', '/proc/self/limits'], { encoding: 'latin1', timeout: 5_000 });
  return probe.status === 0 && probe.stdout.includes(mark.format(tag)) ? mark : undefined;
}

function environmentMethod(): ProcessTagMethod | undefined {
  if (!existsSync('/proc/self/environ')) return undefined;
  return {
    kind: 'environment',
    commandPrefix: onlyLimits,
    env: (tag) => ({ [VARIABLE]: tag }),
    file: 'environ',
    format: (tag) => `${VARIABLE}=${tag}`,
  };
}
