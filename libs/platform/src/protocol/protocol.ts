import { z } from 'zod';
import type { RunningProcess } from '#contracts';

/**
 * The number of what gateways and workers agree on beside the log: keys, queues, scripts, jobs and pub/sub messages. To be
 * raised with every change of these that another release would not understand.
 */
export const PROTOCOL = 2;
/** The oldest protocol that this release works together with. Raised when support for an older one is removed. */
export const OLDEST_COMPATIBLE = 2;
/** The oldest protocol whose releases can read what this release writes. */
export const OLDEST_READER = 2;

/** Who wrote the data of the newest protocol. */
export const DataProtocol = z.object({ version: z.string(), protocol: z.number(), oldestReader: z.number() });
export type DataProtocol = Readonly<z.output<typeof DataProtocol>>;

/**
 * Why this process must not start beside these processes and on this data; undefined when it may. Pure. Two processes are
 * compatible when each speaks at least the oldest protocol of the other.
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
