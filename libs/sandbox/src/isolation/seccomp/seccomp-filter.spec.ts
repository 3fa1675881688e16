import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { REFUSED_SYSCALLS, SYSCALL_GROUPS, type Condition } from './refused-syscalls.js';
import { seccompFilter } from './seccomp-filter.js';

const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;
const KILL_PROCESS = 0x80000000;
const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
/** O_CREAT, O_TMPFILE without its O_DIRECTORY. */
const CREATING = 0o20000100;

interface SystemCall {
  readonly architecture: number;
  readonly number: number;
  readonly args: readonly number[];
}

/** Runs the program as the kernel does, by its documentation of classic BPF. */
function verdictOf(program: Buffer, { architecture, number, args }: SystemCall): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  args.forEach((value, index) => data.writeUInt32LE(value, 16 + 8 * index));
  let loaded = 0;
  for (let at = 0; ; at += 1) {
    const [operation, whenTrue, whenFalse] = [program.readUInt16LE(at * 8), program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const operand = program.readUInt32LE(at * 8 + 4);
    const jump = (condition: boolean) => (at += condition ? whenTrue : whenFalse);
    if (operation === 0x06) return operand;
    if (operation === 0x20) loaded = data.readUInt32LE(operand);
    else if (operation === 0x15) jump(loaded === operand);
    else if (operation === 0x35) jump(loaded >= operand);
    else if (operation === 0x45) jump((loaded & operand) !== 0);
    else throw new Error(`unknown operation ${operation}`);
  }
}

function applies(when: Condition, args: readonly number[]): boolean {
  const value = (index: number) => args[index] ?? 0;
  switch (when.kind) {
    case 'always':
      return true;
    case 'bits':
      return (value(when.argument) & when.bits) !== 0;
    case 'values':
      return when.values.includes(value(when.argument)) === when.in;
    case 'creation':
      return (value(when.flags) & CREATING) !== 0 && (value(when.argument) & when.bits) !== 0;
  }
}

const architectures = fc.constantFrom('x64', 'arm64');
const groups = fc.subarray([...SYSCALL_GROUPS]);
const word = fc.oneof(
  fc.nat(64),
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.constantFrom(0o4755, 0o2755, 0o100, 0o101, 0x4206, 0x10000000),
);
const words = fc.array(word, { minLength: 6, maxLength: 6 });

describe('the filter of system calls', () => {
  it('refuses exactly the system calls of the table, for every call, argument and allowed group', () => {
    fc.assert(
      fc.property(architectures, groups, fc.nat(470), words, (name, allowed, number, args) => {
        const program = seccompFilter(allowed, name) ?? Buffer.alloc(0);
        const rule = REFUSED_SYSCALLS.find((each) => each[name] === number && !(each.group && allowed.includes(each.group)));
        const expected = rule !== undefined && applies(rule.when, args) ? ERRNO | rule.errno : ALLOW;
        expect(verdictOf(program, { architecture: ARCHITECTURES[name], number, args })).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
  });

  it('kills programs that use the calls of another architecture', () => {
    fc.assert(
      fc.property(architectures, fc.integer({ min: 0, max: 0xffffffff }), fc.nat(470), words, (name, architecture, number, args) => {
        fc.pre(architecture !== ARCHITECTURES[name]);
        expect(verdictOf(seccompFilter([], name) ?? Buffer.alloc(0), { architecture, number, args })).toBe(KILL_PROCESS);
      }),
    );
    const x32 = { architecture: ARCHITECTURES.x64, number: 0x40000000 + 2, args: [] };
    expect(verdictOf(seccompFilter([], 'x64') ?? Buffer.alloc(0), x32)).toBe(KILL_PROCESS);
  });

  it('names each system call and each number once', () => {
    for (const name of ['x64', 'arm64'] as const) {
      const numbers = REFUSED_SYSCALLS.flatMap((each) => each[name] ?? []);
      expect(new Set(numbers).size).toBe(numbers.length);
    }
    expect(new Set(REFUSED_SYSCALLS.map(({ name }) => name)).size).toBe(REFUSED_SYSCALLS.length);
  });

  it('offers no seccomp filter for an unknown architecture', () => {
    expect(seccompFilter([], 's390x')).toBeUndefined();
  });
});
