import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { release } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findExecutable } from '../process/find-executable.js';
import { THREADS_A_PROCESS } from '../process/control-groups.js';
import type { ResourceLimits } from '../process/resource-limits.js';
import { COMMAND_USER } from '../process/user-map.js';
import type { SandboxView } from './sandbox.port.js';

export interface BubblewrapProfile {
  readonly workspace: string;
  readonly cwd: string;
  readonly network: 'none' | 'host';
  readonly readable: readonly string[];
  readonly limits: ResourceLimits;
  /** Forbids namespaces inside, too. */
  readonly hardened: boolean;
  readonly view?: SandboxView | undefined;
  /** User that starts bwrap. Default: that of this process. */
  readonly uid?: number | undefined;
  /** The command runs as another user than bwrap, whose caller maps it (`user-map.ts`). The number of the first descriptor for it. */
  readonly mapsUser?: number | undefined;
}

/** Files outside of /usr that its programs need: library cache, alternatives, certificates (without private keys), time zone. */
const CERTIFICATES = ['/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/ca-certificates', '/etc/pki/tls/certs', '/etc/pki/ca-trust'];
const SYSTEM_FILES = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime', ...CERTIFICATES];
const NETWORK_FILES = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/services', '/etc/protocols', '/etc/gai.conf'];
/** Files with the user `nobody` and the host `localhost`, required by `os.userInfo` of Node and many test servers. */
const OWN_FILES = ['passwd', 'group', 'hosts', 'nsswitch.conf'].map((name) => ({
  from: fileURLToPath(new URL(`etc/${name}`, import.meta.url)),
  to: `/etc/${name}`,
}));
const READ_ONLY_IN_PROC = ['acpi', 'asound', 'bus', 'driver', 'fs', 'irq', 'mtrr', 'pressure', 'scsi', 'sys', 'sysrq-trigger', 'tty'];
const EMPTY_IN_PROC = ['iomem', 'ioports', 'kallsyms', 'kcore', 'keys', 'key-users', 'kmsg', 'latency_stats', 'sched_debug', 'timer_list'];
const KERNEL_SETTINGS = kernelSettings();
const EMPTY_VIEW: SandboxView = { visible: [], hidden: [], readOnly: [] };
/** The user `nobody`. Outside it is the owner of the workspace, or the user of the worker where users are not mapped. */
const USER = String(COMMAND_USER);

/**
 * Words between `bwrap` and the command. Visible are /usr, read-only; the workspace, writable at its own path; a private /proc,
 * /dev and /tmp, in memory and of bounded size; and the view. Users, processes, network and host names have their own
 * namespaces. No terminal, and only the capabilities by which another user than root can access the opened files.
 */
export function bubblewrapProfile({
  workspace,
  cwd,
  network,
  readable,
  limits,
  hardened,
  view = EMPTY_VIEW,
  uid = process.getuid?.(),
  mapsUser,
}: BubblewrapProfile): string[] {
  const inMemory = [
    ...(mapsUser === undefined ? [] : ['--perms', '1777']),
    '--size',
    String(Math.max(1_048_576, Math.floor(limits.memoryBytes / 4))),
    '--tmpfs',
  ];
  const capabilities = capabilitiesFor(view, readable);
  const files = [...SYSTEM_FILES, ...(network === 'host' ? NETWORK_FILES : []), ...readable];
  return [
    ['--unshare-all', ...(network === 'host' ? ['--share-net'] : []), '--unshare-user', '--hostname', 'sandbox'],
    ['--new-session', '--die-with-parent', '--cap-drop', 'ALL', ...users(mapsUser, hardened, capabilities)],
    ['--ro-bind', '/usr', '/usr', ...topFolders(), '--proc', '/proc', '--dev', '/dev', ...inMemory, '/dev/shm', ...inMemory, '/tmp'],
    KERNEL_SETTINGS,
    mapsUser === undefined ? [] : foldersAbove(['/var/tmp', '/etc/passwd', ...files, workspace, ...view.visible.map(({ path }) => path)]),
    ['--symlink', '/tmp', '/var/tmp', ...OWN_FILES.flatMap(({ from, to }) => ['--ro-bind', from, to])],
    files.flatMap((file) => ['--ro-bind-try', file, file]),
    mounts(workspace, view),
    ['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', cwd, '--'],
    mapsUser === undefined ? [] : asCommandUser(capabilities),
    mapsUser === undefined && uid === 0 ? [] : processLimit(limits.processes),
  ].flat();
}

/**
 * Options for users. Another user is mapped from outside, while bwrap waits; like `--block-fd`, the second descriptor is also
 * closed inside. In that case only the filter of system calls forbids namespaces.
 */
function users(mapsUser: number | undefined, hardened: boolean, capabilities: readonly string[]): string[] {
  if (mapsUser === undefined) return ['--uid', USER, '--gid', USER, ...(hardened ? ['--disable-userns'] : [])];
  const [info, block] = [String(mapsUser), String(mapsUser + 1)];
  const descriptors = ['--info-fd', info, '--userns-block-fd', block, '--block-fd', block];
  // Capabilities to enter the folder of another user, and to become that user.
  const needed = new Set(['dac_read_search', 'setuid', 'setgid', 'setpcap', ...capabilities]);
  return [...descriptors, ...[...needed].flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`])];
}

/** The last words that run as root of the sandbox. */
function asCommandUser(capabilities: readonly string[]): string[] {
  const only = ['-all', ...capabilities.map((name) => `+${name}`)].join(',');
  const sets = [`--bounding-set=${only}`, `--inh-caps=${only}`, `--ambient-caps=${only}`];
  return ['/usr/bin/setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', ...sets, '--no-new-privs', '--'];
}

/**
 * Folders that are opened for a call, or for all commands, may be for root only. In these namespaces the capability reaches nothing but what is mounted:
 * not the settings of the kernel, and no file that is mounted read-only.
 */
function capabilitiesFor({ visible }: SandboxView, readable: readonly string[]): string[] {
  if (visible.length === 0 && readable.length === 0) return [];
  return [visible.some(({ access }) => access === 'write') ? 'dac_override' : 'dac_read_search'];
}

/** bwrap makes the folders above a mount for its own user only. */
function foldersAbove(paths: readonly string[]): string[] {
  const above = new Set<string>();
  for (const path of paths.filter((each) => existsSync(each)))
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) above.add(folder);
  const made = [...above].filter((folder) => !isShownFolder(folder)).toSorted((a, b) => a.length - b.length);
  return made.flatMap((folder) => ['--perms', '0755', '--dir', folder]);
}

/** True below existing mounts, where no folder can be created. */
const isShownFolder = (folder: string): boolean => /^\/(usr|bin|sbin|lib|lib32|lib64|proc|dev)(\/|$)/.test(folder);

/**
 * Mounts over kernel settings. Files of root below /proc are writable also in a user namespace, and bwrap itself protects them
 * only from other users: as root, a command could set the program that the kernel starts for a crash. Files about the machine
 * that no command needs are empty.
 */
function kernelSettings(): string[] {
  const present = (name: string) => existsSync(`/proc/${name}`);
  return [
    ...READ_ONLY_IN_PROC.filter(present).flatMap((name) => ['--ro-bind', `/proc/${name}`, `/proc/${name}`]),
    ...EMPTY_IN_PROC.filter(present).flatMap((name) => ['--ro-bind', '/dev/null', `/proc/${name}`]),
  ];
}

/** Mounts, outer ones first: later mounts cover earlier ones below them, and a denied folder may contain the workspace. */
function mounts(workspace: string, { visible, readOnly, hidden }: SandboxView): string[] {
  const all = [
    ...visible.map(({ path, access }) => ({ path, args: [access === 'write' ? '--bind' : '--ro-bind', path, path] })),
    { path: workspace, args: ['--bind', workspace, workspace] },
    ...readOnly.map((path) => ({ path, args: ['--ro-bind', path, path] })),
    ...hidden.map(({ path, directory }) => ({ path, args: directory ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path] })),
  ];
  const emptied = hidden.flatMap(({ path, directory }) => (directory ? ['--remount-ro', path] : []));
  return [...all.toSorted((a, b) => a.path.length - b.path.length).flatMap(({ args }) => args), ...emptied];
}

/** `/bin`, `/lib` and the like are links into /usr on most systems and folders of their own on some. */
function topFolders(): string[] {
  return ['/bin', '/sbin', '/lib', '/lib32', '/lib64'].flatMap((folder) => {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return found.isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder];
  });
}

/**
 * Kernel limit of threads, set inside the sandbox, where it counts only threads inside (since Linux 5.14). Stops a fork bomb
 * between two checks of the watchdog. Never limits root, even in a namespace: for commands of that user a control group does,
 * if available (`control-groups.ts`), otherwise only the watchdog.
 */
function processLimit(processes: number): string[] {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  const prlimit = findExecutable(['prlimit'], '/usr/bin');
  if (prlimit === undefined || major < 5 || (major === 5 && minor < 14)) return [];
  return [prlimit, `--nproc=${processes * THREADS_A_PROCESS}`, '--'];
}
