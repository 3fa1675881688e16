import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { systemCode } from '../start-failure.js';

/**
 * Identifies a process beyond its pid, which may be reused: by its start time, on Linux together with the boot id.
 * Undefined if there is no such process.
 */
export function processIdentity(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  if (process.platform !== 'linux') return psColumn(pid, 'lstart');
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in field 2 may contain spaces and brackets; field 3 follows the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** True for a process that is a Redis or Valkey server with the working directory `directory`. */
export function isRedisServerIn(pid: number, directory: string): boolean {
  if (processIdentity(pid) === undefined) return false;
  try {
    if (process.platform !== 'linux') return /\b(redis|valkey)-server\b/.test(psColumn(pid, 'command') ?? '');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return /(redis|valkey)-server/.test(command) && readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

function psColumn(pid: number, column: string): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' });
  return stdout?.trim() || undefined;
}
