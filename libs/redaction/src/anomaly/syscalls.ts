/** Numbers of the x86-64 system call table, of the calls that ordinary programs make. */
const BY_NUMBER: Readonly<Record<number, string>> = {
  0: 'read',
  1: 'write',
  2: 'open',
  3: 'close',
  4: 'stat',
  5: 'fstat',
  7: 'poll',
  8: 'lseek',
  9: 'mmap',
  10: 'mprotect',
  11: 'munmap',
  12: 'brk',
  13: 'rt_sigaction',
  14: 'rt_sigprocmask',
  16: 'ioctl',
  17: 'pread64',
  21: 'access',
  22: 'pipe',
  24: 'sched_yield',
  32: 'dup',
  33: 'dup2',
  35: 'nanosleep',
  39: 'getpid',
  56: 'clone',
  57: 'fork',
  59: 'execve',
  60: 'exit',
  61: 'wait4',
  72: 'fcntl',
  79: 'getcwd',
  89: 'readlink',
  101: 'ptrace',
  165: 'mount',
  202: 'futex',
  218: 'set_tid_address',
  228: 'clock_gettime',
  231: 'exit_group',
  257: 'openat',
  262: 'newfstatat',
  273: 'set_robust_list',
  318: 'getrandom',
  435: 'clone3',
};

/** System calls of ordinary programs; any other is unusual in a kernel message. */
export const BASELINE_SYSCALLS: readonly string[] = (
  'read write open openat close stat fstat newfstatat lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask ioctl fcntl access readlink getcwd ' +
  'pipe pipe2 dup dup2 poll futex clock_gettime nanosleep getpid getrandom set_tid_address set_robust_list clone fork execve wait4 exit exit_group sched_yield'
).split(' ');

/** `SYS_ptrace`, `__NR_ptrace`, `101`, `0x65` and `ptrace` are the same. Undefined for nothing. */
export function syscallName(written: string | undefined): string | undefined {
  if (written === undefined || written === '') return undefined;
  if (/^(?:0x[0-9a-f]+|\d+)$/i.test(written)) return BY_NUMBER[Number(written)] ?? `syscall#${Number(written)}`;
  return written.toLowerCase().replace(/^(?:sys_|__nr_)/, '');
}
