/**
 * Rejected system calls of commands in a sandbox, in groups that `SANDBOX_SYSCALLS` can allow. They access parts of the kernel
 * that no build or test needs and that have been used to escape from sandboxes. Numbers are those of
 * `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h` of Linux.
 */
export const SYSCALL_GROUPS = [
  'bpf',
  'io_uring',
  'keyctl',
  'mount',
  'namespaces',
  'perf_event_open',
  'ptrace',
  'sockets',
  'userfaultfd',
] as const;
export type SyscallGroup = (typeof SYSCALL_GROUPS)[number];

/** Condition for rejecting a call. Arguments are numbered from 0; only their lower 32 bits are read. */
export type Condition =
  | { readonly kind: 'always' }
  /** True if any of these bits is set in the argument. */
  | { readonly kind: 'bits'; readonly argument: number; readonly bits: number }
  /** The argument is (`in: true`) or is not (`in: false`) one of the values. */
  | { readonly kind: 'values'; readonly argument: number; readonly values: readonly number[]; readonly in: boolean }
  /** A file is created (by the flags) with one of these bits in its mode. Without creation the argument of the mode is not set. */
  | { readonly kind: 'creation'; readonly flags: number; readonly argument: number; readonly bits: number };

export interface RefusedSyscall {
  /** Always refused where it belongs to no group. */
  readonly group?: SyscallGroup;
  readonly name: string;
  /** Undefined: the architecture has no such call. */
  readonly x64: number | undefined;
  readonly arm64: number | undefined;
  readonly when: Condition;
  readonly errno: number;
}

const EPERM = 1;
/** C libraries and runtimes then use the older call, whose arguments can be read. */
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const ALWAYS: Condition = { kind: 'always' };
const PTRACE_ATTACH = 16;
const PTRACE_SEIZE = 0x4206;
const CLONE_NEWUSER = 0x10000000;
/** `S_ISUID` and `S_ISGID`: a file of the worker's user with them gives its rights to every user of the machine. */
const SET_ID_BITS = 0o6000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** Needed to list network interfaces. */
const AF_NETLINK = 16;
const COMMON_FAMILIES = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK];

type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

const refused = (
  group: SyscallGroup | undefined,
  calls: Record<string, Numbers>,
  when: Condition = ALWAYS,
  errno = EPERM,
): RefusedSyscall[] => Object.entries(calls).map(([name, [x64, arm64]]) => ({ ...(group && { group }), name, x64, arm64, when, errno }));

const mode = (argument: number): Condition => ({ kind: 'bits', argument, bits: SET_ID_BITS });
const modeOfNew = (flags: number, argument: number): Condition => ({ kind: 'creation', flags, argument, bits: SET_ID_BITS });
const families: Condition = { kind: 'values', argument: 0, values: COMMON_FAMILIES, in: false };
const userNamespace: Condition = { kind: 'bits', argument: 0, bits: CLONE_NEWUSER };
const attach: Condition = { kind: 'values', argument: 0, values: [PTRACE_ATTACH, PTRACE_SEIZE], in: true };

export const REFUSED_SYSCALLS: readonly RefusedSyscall[] = [
  ...refused('bpf', { bpf: [321, 280] }),
  ...refused('io_uring', { io_uring_setup: [425, 425], io_uring_enter: [426, 426], io_uring_register: [427, 427] }, ALWAYS, ENOSYS),
  ...refused('keyctl', { add_key: [248, 217], request_key: [249, 218], keyctl: [250, 219] }),
  ...refused('mount', { mount: [165, 40], umount2: [166, 39], pivot_root: [155, 41], chroot: [161, 51] }),
  ...refused('mount', { open_tree: [428, 428], move_mount: [429, 429], mount_setattr: [442, 442] }),
  ...refused('mount', { fsopen: [430, 430], fsconfig: [431, 431], fsmount: [432, 432], fspick: [433, 433] }),
  ...refused('namespaces', { setns: [308, 268] }),
  ...refused('namespaces', { unshare: [272, 97], clone: [56, 220] }, userNamespace),
  ...refused('namespaces', { clone3: [435, 435] }, ALWAYS, ENOSYS),
  ...refused('perf_event_open', { perf_event_open: [298, 241] }),
  // Programs may trace what they start themselves.
  ...refused('ptrace', { ptrace: [101, 117] }, attach),
  ...refused('ptrace', { process_vm_readv: [310, 270], process_vm_writev: [311, 271], pidfd_getfd: [438, 438], kcmp: [312, 272] }),
  // Includes AF_VSOCK, by which a virtual machine connects to its host.
  ...refused('sockets', { socket: [41, 198], socketpair: [53, 199] }, families, EAFNOSUPPORT),
  ...refused('userfaultfd', { userfaultfd: [323, 282] }),

  ...refused(undefined, { chmod: [90, undefined], fchmod: [91, 52], creat: [85, undefined], mknod: [133, undefined] }, mode(1)),
  ...refused(undefined, { fchmodat: [268, 53], fchmodat2: [452, 452], mknodat: [259, 33] }, mode(2)),
  ...refused(undefined, { open: [2, undefined] }, modeOfNew(1, 2)),
  ...refused(undefined, { openat: [257, 56] }, modeOfNew(2, 3)),
  // Flags and mode of openat2 are in memory, where a filter cannot read them.
  ...refused(undefined, { openat2: [437, 437] }, ALWAYS, ENOSYS),
  ...refused(undefined, { kexec_load: [246, 104], kexec_file_load: [320, 294], reboot: [169, 142], syslog: [103, 116] }),
  ...refused(undefined, { init_module: [175, 105], finit_module: [313, 273], delete_module: [176, 106] }),
  ...refused(undefined, { swapon: [167, 224], swapoff: [168, 225], acct: [163, 89], open_by_handle_at: [304, 265] }),
  ...refused(undefined, { iopl: [172, undefined], ioperm: [173, undefined], settimeofday: [164, 170], clock_settime: [227, 112] }),
];
