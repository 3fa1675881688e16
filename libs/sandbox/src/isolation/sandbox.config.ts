import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { POOLS, Pool } from '#contracts';
import type { ResourceLimits } from '../process/resource-limits.js';
import { DEFAULT_LIMITS } from './default-limits.js';
import { SYSCALL_GROUPS, type SyscallGroup } from './seccomp/refused-syscalls.js';

/** `auto`: bubblewrap where it works, otherwise host. */
export const SANDBOX_BACKENDS = ['auto', 'bubblewrap', 'host', 'none'] as const;
export type SandboxBackend = (typeof SANDBOX_BACKENDS)[number];

/** Isolation of tools' commands by pool, and their limits. */
export interface SandboxConfig {
  readonly backends: Readonly<Record<Pool, SandboxBackend>>;
  /** Pools whose commands run isolated or not at all. */
  readonly required: readonly Pool[];
  readonly network: 'none' | 'host';
  readonly readable: readonly string[];
  readonly syscalls: readonly SyscallGroup[];
  readonly limits: ResourceLimits;
}

const NAMES = SANDBOX_BACKENDS.join(', ');
/** Listed by name, so that its absence is reported. */
const NOT_IMPLEMENTED =
  'container is not implemented: no container engine was there to try it with. Run the worker itself in a container with SANDBOX=host, or name a host in remoteHosts of the config file';
const list = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
const everyPool = <T>(value: T): Record<Pool, T> => ({ read: value, write: value, shell: value, net: value, agent: value });

/** `bubblewrap`, or `shell=bubblewrap,net=host`; pools that are not named choose for themselves. */
const backends = z
  .string()
  .default('auto')
  .transform((text, context) => {
    const word = z.enum(SANDBOX_BACKENDS).safeParse(text.trim());
    if (word.success) return everyPool<SandboxBackend>(word.data);
    const byPool = everyPool<SandboxBackend>('auto');
    for (const part of list(text)) {
      const [name, value, more] = part.split('=').map((side) => side.trim());
      const pool = Pool.safeParse(name);
      const backend = z.enum(SANDBOX_BACKENDS).safeParse(value);
      if (pool.success && backend.success && more === undefined) byPool[pool.data] = backend.data;
      else if ((value ?? name) === 'container') context.addIssue({ code: 'custom', message: NOT_IMPLEMENTED });
      else
        context.addIssue({
          code: 'custom',
          message: `expected one of ${NAMES}, or pairs such as shell=bubblewrap,net=host with the pools ${POOLS.join(', ')}; got "${part}"`,
        });
    }
    return byPool;
  });

const required = z
  .string()
  .default('false')
  .transform((text) => (text === 'true' ? [...POOLS] : text === 'false' ? [] : list(text)))
  .pipe(z.array(z.enum(POOLS, { error: `expected true, false or a list of ${POOLS.join(', ')}` })));

const readable = z
  .string()
  .default('')
  .transform(list)
  .pipe(z.array(z.string().refine((path) => isAbsolute(path) && path !== '/', 'expected a list of absolute paths, not /')));

const syscalls = z
  .string()
  .default('')
  .transform(list)
  .pipe(z.array(z.enum(SYSCALL_GROUPS, { error: `expected a list of ${SYSCALL_GROUPS.join(', ')}` })));

const atLeast = (least: number, fallback: number) =>
  z.coerce
    .number({ error: `expected a whole number from ${least}` })
    .int()
    .min(least, `expected a whole number from ${least}`)
    .default(fallback);

/** The environment variables of the sandbox; an app spreads them into its own schema. */
export const SANDBOX_ENV = {
  SANDBOX: backends.describe('`auto`, `bubblewrap`, `host` or `none`; or by pool: `shell=bubblewrap,net=host`.'),
  SANDBOX_REQUIRED: required.describe('`true` or a list of pools whose commands run isolated or are refused.'),
  SANDBOX_NETWORK: z.enum(['none', 'host'], { error: 'expected none or host' }).default('none').describe('Network of isolated commands.'),
  SANDBOX_READABLE: readable.describe('More absolute paths that isolated commands may read.'),
  SANDBOX_SYSCALLS: syscalls.describe(
    `Groups of system calls that isolated commands may make although they are refused by default: ${SYSCALL_GROUPS.join(', ')}.`,
  ),
  SANDBOX_CPU_SECONDS: atLeast(1, DEFAULT_LIMITS.cpuSeconds).describe('CPU time of each process of a command, in seconds.'),
  SANDBOX_MEMORY_BYTES: atLeast(16_777_216, DEFAULT_LIMITS.memoryBytes).meta({
    description: 'Memory of a command and its children together, in bytes.',
    shownDefault: '4 GiB or half of the memory',
  }),
  SANDBOX_PROCESSES: atLeast(8, DEFAULT_LIMITS.processes).describe('Processes of a command and its children together.'),
  SANDBOX_FILE_BYTES: atLeast(65_536, DEFAULT_LIMITS.fileBytes).meta({
    description: 'Size of each file that a command writes, in bytes.',
    shownDefault: '`2147483648` (2 GiB)',
  }),
  SANDBOX_OPEN_FILES: atLeast(32, DEFAULT_LIMITS.openFiles).describe('Open files of each process of a command.'),
} as const;

const SandboxEnv = z.object(SANDBOX_ENV);

export function sandboxConfig(values: z.output<typeof SandboxEnv>): SandboxConfig {
  return {
    backends: values.SANDBOX,
    required: values.SANDBOX_REQUIRED,
    network: values.SANDBOX_NETWORK,
    readable: values.SANDBOX_READABLE,
    syscalls: values.SANDBOX_SYSCALLS,
    limits: {
      cpuSeconds: values.SANDBOX_CPU_SECONDS,
      memoryBytes: values.SANDBOX_MEMORY_BYTES,
      processes: values.SANDBOX_PROCESSES,
      fileBytes: values.SANDBOX_FILE_BYTES,
      openFiles: values.SANDBOX_OPEN_FILES,
    },
  };
}

/** Contradictory settings, one sentence each. */
export function validateSandboxConfig({ backends: chosen, required: needed }: SandboxConfig): string[] {
  const open = needed.filter((pool) => chosen[pool] === 'host');
  return open.length === 0
    ? []
    : [`SANDBOX_REQUIRED: asks for isolation of ${open.join(', ')}, for which SANDBOX says host: take bubblewrap or none`];
}
