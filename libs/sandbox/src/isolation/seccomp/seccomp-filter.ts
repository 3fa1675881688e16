import { REFUSED_SYSCALLS, type Condition, type RefusedSyscall, type SyscallGroup } from './refused-syscalls.js';

/** Instruction of classic BPF (`struct sock_filter`): operation, jumps when true and when false, operand. */
type Instruction = readonly [operation: number, whenTrue: number, whenFalse: number, operand: number];

const INSTRUCTION_BYTES = 8;
/** Operations, by `linux/bpf_common.h`. */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_BITS = 0x45;
const RETURN = 0x06;
/** Verdicts, by `linux/seccomp.h`. */
const KILL_PROCESS = 0x80000000;
const ERRNO = 0x00050000;
const ALLOW = 0x7fff0000;
/** Places in `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

/** `AUDIT_ARCH_*` of `linux/audit.h`. */
const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
/** Numbers from here on are calls of the x32 ABI, which reach the same code. */
const X32_CALLS = 0x40000000;
/** `O_CREAT`, and the bit of `O_TMPFILE` that is its own. Equal on both architectures. */
const CREATING = 0o100 | 0o20000000;

/**
 * The filter for `bwrap --seccomp`: the bytes of a program in classic BPF, as seccomp(2) describes it, in little-endian order.
 * Undefined on an architecture whose numbers are not known. Programs for another architecture than that of Node.js, such as
 * 32-bit ones, are killed by it (SIGSYS).
 */
export function seccompFilter(allowed: readonly SyscallGroup[] = [], architecture: string = process.arch): Buffer | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined;
  const syscalls = REFUSED_SYSCALLS.filter(({ group }) => group === undefined || !allowed.includes(group));
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, ARCHITECTURES[architecture]],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER],
    [IF_AT_LEAST, 0, 1, X32_CALLS],
    [RETURN, 0, 0, KILL_PROCESS],
    ...syscalls.flatMap((syscall) => refusal(syscall, syscall[architecture])),
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  for (const [index, [operation, whenTrue, whenFalse, operand]] of program.entries()) {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(operation, at);
    bytes.writeUInt8(whenTrue, at + 2);
    bytes.writeUInt8(whenFalse, at + 3);
    bytes.writeUInt32LE(operand, at + 4);
  }
  return bytes;
}

/** Skipped where the number is another one, so that the number is still loaded; otherwise it ends with a verdict. */
function refusal({ when, errno }: RefusedSyscall, number: number | undefined): Instruction[] {
  if (number === undefined) return [];
  const verdict: Instruction[] = [
    ...check(when),
    [RETURN, 0, 0, ERRNO | errno],
    ...(when.kind === 'always' ? [] : ([[RETURN, 0, 0, ALLOW]] as const)),
  ];
  return [[IF_EQUAL, 0, verdict.length, number], ...verdict];
}

/** Continues with the next instruction (rejected) or skips it (allowed). */
function check(when: Condition): Instruction[] {
  switch (when.kind) {
    case 'always':
      return [];
    case 'bits':
      return [
        [LOAD, 0, 0, argument(when.argument)],
        [IF_BITS, 0, 1, when.bits],
      ];
    case 'values':
      return [[LOAD, 0, 0, argument(when.argument)], ...oneOf(when.values, when.in)];
    case 'creation':
      return [
        [LOAD, 0, 0, argument(when.flags)],
        [IF_BITS, 0, 3, CREATING],
        [LOAD, 0, 0, argument(when.argument)],
        [IF_BITS, 0, 1, when.bits],
      ];
  }
}

function oneOf(values: readonly number[], refusedWhenFound: boolean): Instruction[] {
  return values.map((value, index) => {
    const rest = values.length - 1 - index;
    const [found, missing] = refusedWhenFound ? [rest, 1] : [rest + 1, 0];
    return [IF_EQUAL, found, rest === 0 ? missing : 0, value] as const;
  });
}
