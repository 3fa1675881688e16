import { z } from 'zod';
import type { RunningProcess } from '#contracts';

/**
 * Version of the protocol of gateways and workers beside the log: keys, queues, scripts, jobs and pub/sub messages. Raised with
 * every change that another release would not understand.
 */
export const PROTOCOL = 2;
/** Oldest protocol that is compatible with this release. Raised with the removal of support for an older one. */
export const OLDEST_COMPATIBLE = 2;
/** Oldest protocol whose releases can read the data of this release. */
export const OLDEST_READER = 2;

/** Writer of the data of the newest protocol. */
export const DataProtocol = z.object({ version: z.string(), protocol: z.number(), oldestReader: z.number() });
export type DataProtocol = Readonly<z.output<typeof DataProtocol>>;

/**
 * Reason why this process must not start beside these processes and on this data; undefined if it may. Pure. Two processes are
 * compatible if each has at least the oldest protocol of the other.
 */
export function refusalToStart(own: RunningProcess, others: readonly RunningProcess[], data: DataProtocol | undefined): string | undefined {
  if (data !== undefined && own.protocol < data.oldestReader) return unreadableData(own, data);
  const other = others.find((process) => !areCompatible(own, process));
  return other && incompatible(own, other);
}

export function areCompatible(one: RunningProcess, other: RunningProcess): boolean {
  return one.protocol >= other.oldestCompatible && other.protocol >= one.oldestCompatible;
}

function unreadableData(own: RunningProcess, { version, protocol, oldestReader }: DataProtocol): string {
  return (
    `The data in this Redis was written by version ${version} (protocol ${protocol}) and can be read from protocol ${oldestReader} on, ` +
    `but this ${own.kind} is ${releaseOf(own)}: start version ${version} or newer, or name another Redis in REDIS_URL.`
  );
}

function incompatible(own: RunningProcess, other: RunningProcess): string {
  const [older, newer] = own.protocol < other.protocol ? [own, other] : [other, own];
  return (
    `This ${own.kind} is ${releaseOf(own)} and cannot work beside the ${other.kind} ${other.id}, which is ${releaseOf(other)}: ` +
    `protocol ${newer.protocol} works together with protocol ${newer.oldestCompatible} or newer. ` +
    `Stop every gateway and worker of protocol ${older.protocol}, then start the newer release, gateways first ` +
    `(deploy/README.md, "Upgrades"); a process that was killed counts for 10 s.`
  );
}

function releaseOf({ version, protocol }: RunningProcess): string {
  return `version ${version} (protocol ${protocol})`;
}
