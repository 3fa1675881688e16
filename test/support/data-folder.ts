import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEST_KEY } from './test-cluster.js';

/** Offsets of the numbers in a packed snapshot (`encodeSnapshot`): deadline, totalDeadline, timer. Six bytes each. */
const DEADLINES_AT = [17, 23, 47] as const;
const NUMBER_BYTES = 6;
const LETTERS_OF_WAITING = ['w', 'q', 'i'];

/**
 * Makes a data folder of standalone from the commands of an append-only file, as if it had been written `ageMs` later: keys
 * that expire, and the deadlines of calls that wait. The leases of running calls stay, so they are over.
 */
export function writeDataFolder(folder: string, aof: Buffer, ageMs: number): void {
  const commands = readCommands(aof);
  const waiting = new Set(commands.flatMap((command) => waitingCall(command)));
  const moved = commands.map((command) => moveTimes(command, ageMs, waiting));
  const files = join(folder, 'redis', 'appendonlydir');
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'appendonly.aof.1.base.aof'), Buffer.concat(moved.map(encodeCommand)));
  writeFileSync(join(files, 'appendonly.aof.manifest'), 'file appendonly.aof.1.base.aof seq 1 type b\n');
  writeFileSync(join(folder, 'key'), `${TEST_KEY}\n`, { mode: 0o600 });
}

/** Commands in the protocol of Redis (RESP): lists of byte strings. */
function readCommands(aof: Buffer): Buffer[][] {
  let at = 0;
  const number = (): number => {
    const end = aof.indexOf('\r\n', at);
    const value = Number(aof.toString('latin1', at + 1, end));
    at = end + 2;
    return value;
  };
  const commands: Buffer[][] = [];
  while (at < aof.length) {
    commands.push(
      Array.from({ length: number() }, () => {
        const length = number();
        const word = aof.subarray(at, at + length);
        at += length + 2;
        return word;
      }),
    );
  }
  return commands;
}

function encodeCommand(words: readonly Buffer[]): Buffer {
  const end = Buffer.from('\r\n');
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...words.flatMap((word) => [Buffer.from(`$${word.length}\r\n`), word, end])]);
}

function snapshotOf([name, key, value]: readonly Buffer[]): { callId: string; packed: Buffer } | undefined {
  const [, callId] = /^\{p\d+\}:call:([^:]+)$/.exec(String(key)) ?? [];
  return String(name) === 'SET' && callId !== undefined && value !== undefined ? { callId, packed: value } : undefined;
}

function waitingCall(command: readonly Buffer[]): string[] {
  const found = snapshotOf(command);
  return found && LETTERS_OF_WAITING.includes(found.packed.toString('latin1', 0, 1)) ? [found.callId] : [];
}

function moveTimes(command: readonly Buffer[], ageMs: number, waiting: ReadonlySet<string>): readonly Buffer[] {
  const [name, key, ...rest] = command;
  if (name === undefined || key === undefined) return command;
  if (String(name) === 'PEXPIREAT') return [name, key, ...rest.map((time) => later(time, ageMs))];
  if (String(name) === 'ZADD' && /^\{p\d+\}:timers$/.test(String(key)))
    return [name, key, ...rest.map((word, index) => (waiting.has(String(rest[index + 1])) ? later(word, ageMs) : word))];
  const snapshot = snapshotOf(command);
  if (snapshot === undefined || !waiting.has(snapshot.callId)) return command;
  const packed = Buffer.from(snapshot.packed);
  for (const at of DEADLINES_AT) packed.writeUIntLE(packed.readUIntLE(at, NUMBER_BYTES) + ageMs, at, NUMBER_BYTES);
  return [name, key, packed];
}

function later(time: Buffer, ageMs: number): Buffer {
  return Buffer.from(String(Number(String(time)) + ageMs));
}
