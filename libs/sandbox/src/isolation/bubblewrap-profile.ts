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
  /** Also forbids namespaces inside. */
  readonly hardened: boolean;
  readonly view?: SandboxView | undefined;
  /** The user that starts bwrap. Default: that of this process. */
  readonly uid?: number | undefined;
  /** The command runs as another user than bwrap, whose caller maps it (`user-map.ts`). The number of the first descriptor for it. */
  readonly mapsUser?: number | undefined;
}

/** What programs under /usr need from outside of it: library cache, alternatives, certificates (without private keys), time zone. */
const CERTIFICATES = ['/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/ca-certificates', '/etc/pki/tls/certs', '/etc/pki/ca-trust'];
const SYSTEM_FILES = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime', ...CERTIFICATES];
const NETWORK_FILES = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/services', '/etc/protocols', '/etc/gai.conf'];
/** They name the user `nobody` and the host `localhost`. Without them `os.userInfo` of Node and many test servers fail. */
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
 * The words between `bwrap` and the command. Visible are /usr, read-only; the workspace, writable at its own path;
 * a private /proc, /dev and /tmp, in memory and of bounded size; what the view adds. Users, processes, network and host
 * names are in namespaces of their own. No terminal, and no capabilities but those by which another user than root reaches what
 * was opened.
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

/** Another user is mapped from outside, while bwrap waits; as `--block-fd`, the second descriptor is also closed inside. Then namespaces are forbidden by the filter of system calls alone. */
function users(mapsUser: number | undefined, hardened: boolean, capabilities: readonly string[]): string[] {
  if (mapsUser === undefined) return ['--uid', USER, '--gid', USER, ...(hardened ? ['--disable-userns'] : [])];
  const [info, block] = [String(mapsUser), String(mapsUser + 1)];
  const descriptors = ['--info-fd', info, '--userns-block-fd', block, '--block-fd', block];
  // To enter the folder, which is another user's, and to become that user.
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

/** Below what is mounted already, where nothing can be made. */
const isShownFolder = (folder: string): boolean => /^\/(usr|bin|sbin|lib|lib32|lib64|proc|dev)(\/|$)/.test(folder);

/**
 * Files of root below /proc are writable also in a user namespace, and bwrap itself protects them only from other users: as
 * root, a command could name the program that the kernel starts for a crash. What tells of the machine and serves no command
 * is empty.
 */
function kernelSettings(): string[] {
  const present = (name: string) => existsSync(`/proc/${name}`);
  return [
    ...READ_ONLY_IN_PROC.filter(present).flatMap((name) => ['--ro-bind', `/proc/${name}`, `/proc/${name}`]),
    ...EMPTY_IN_PROC.filter(present).flatMap((name) => ['--ro-bind', '/dev/null', `/proc/${name}`]),
  ];
}

/** Outer ones first: what is mounted later covers what is mounted below it, and a denied folder may have the workspace in it. */
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
 * The kernel's limit of threads, set inside the sandbox, where it counts only what is inside (since Linux 5.14). It stops a
 * fork bomb between two looks of the watchdog. It never limits root, also not in a namespace: where the command has its
 * user, a control group does, if one can be made (`control-groups.ts`); elsewhere only the watchdog does.
 */
function processLimit(processes: number): string[] {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  const prlimit = findExecutable(['prlimit'], '/usr/bin');
  if (prlimit === undefined || major < 5 || (major === 5 && minor < 14)) return [];
  return [prlimit, `--nproc=${processes * THREADS_A_PROCESS}`, '--'];
}
