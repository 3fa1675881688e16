import { partitionName } from '#redis';

/** The names of all partitions of the log: `00`, `01`, and so on. */
export function partitionNames(partitions: number): string[] {
  return Array.from({ length: partitions }, (_, index) => partitionName(index));
}
