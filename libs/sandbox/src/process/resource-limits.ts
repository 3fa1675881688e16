import { readFileSync } from 'node:fs';
import { findExecutable } from './find-executable.js';

/**
 * Limits of a run. The kernel enforces the first three for each process; the others are checked for all processes together,
 * twenty times a second.
 */
export interface ResourceLimits {
  /** Seconds of processor time of one process: then SIGXCPU, five seconds later SIGKILL. */
  readonly cpuSeconds: number;
  /** The largest file that a process may write: beyond it SIGXFSZ. */
  readonly fileBytes: number;
  readonly openFiles: number;
  /**
   * Memory of all processes together, what they share counted once. Beyond it all are killed; where the kernel can be made to,
   * it gives no more than 17/16.
   */
  readonly memoryBytes: number;
  /**
   * Processes at one time. Beyond it all are killed; where the kernel can be made to, it starts no more than eight times as
   * many threads.
   */
  readonly processes: number;
  /** Writable memory of one process, enforced by the kernel. Absent: only the sum above counts. */
  readonly dataBytes?: number;
}

const CPU_GRACE_SECONDS = 5;
/** `prlimit` option → the name of the same limit in `/proc/<pid>/limits`. */
const NAMES = {
  cpu: 'Max cpu time',
  fsize: 'Max file size',
  nofile: 'Max open files',
  core: 'Max core file size',
  data: 'Max data size',
} as const;

/** Options of `prlimit` for these limits. Never exceeds limits of this process, which would be rejected. */
export function limitOptions(limits: ResourceLimits): string[] {
  const { cpuSeconds, fileBytes, openFiles, dataBytes } = limits;
  const hard = hardLimits();
  const option = (name: keyof typeof NAMES, soft: number, most = soft) => {
    const ceiling = hard(NAMES[name]);
    return `--${name}=${Math.min(soft, ceiling)}:${Math.min(most, ceiling)}`;
  };
  return [
    option('cpu', cpuSeconds, cpuSeconds + CPU_GRACE_SECONDS),
    option('fsize', fileBytes),
    option('nofile', openFiles),
    option('core', 0),
    ...(dataBytes === undefined ? [] : [option('data', dataBytes)]),
  ];
}

/** Words before a command that set its limits. Without `prlimit`, a shell sets those that it supports. */
export function limitCommandPrefix(limits: ResourceLimits): string[] {
  const prlimit = findExecutable(['prlimit']);
  if (prlimit !== undefined) return [prlimit, ...limitOptions(limits), '--'];
  const data = limits.dataBytes === undefined ? '' : `ulimit -d ${Math.ceil(limits.dataBytes / 1_024)} 2>/dev/null; `;
  const script = `${data}ulimit -t ${limits.cpuSeconds}; ulimit -f ${Math.ceil(limits.fileBytes / 512)}; ulimit -n ${limits.openFiles}; ulimit -c 0; exec "$@"`;
  return ['/bin/sh', '-c', script, 'sh'];
}

/** Hard limits of this process; Infinity for unreadable or unlimited ones. */
function hardLimits(): (name: string) => number {
  let text = '';
  try {
    text = readFileSync('/proc/self/limits', 'latin1');
  } catch {
    // Other systems than Linux: the limits are tried unchanged.
  }
  return (name) => {
    const value = Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.slice(26)
        .trim()
        .split(/\s+/)[1] ?? NaN,
    );
    return Number.isNaN(value) ? Infinity : value;
  };
}
