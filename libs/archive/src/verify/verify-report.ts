import type { CallStep } from './call-ledger.js';
import type { CallProof } from './call-proof-file.js';

/** Something that is not as it was sealed. */
export interface Fault {
  readonly file: string;
  /** Counted from 1, in the decompressed file. */
  readonly line?: number;
  readonly fault: string;
}

export type ReportFault = (file: string, fault: string, line?: number) => void;

/** An event with its place in the tree of its generation. */
export interface FoundEvent extends CallStep {
  readonly partition: string;
  readonly generation: number;
  readonly index: number;
  readonly line: string;
}

export interface VerifyReport {
  faults: number;
  partitions: number;
  segments: number;
  events: number;
  /** Calls whose End is in the archive. */
  endedCalls: number;
  openCalls: number;
  checkpoints: number;
  /** Events that no checkpoint covers yet. */
  unsignedEvents: number;
  /** Dropped by retention, as signed statements say; only their hashes are left. Not among `events` and `segments`. */
  droppedEvents: number;
  droppedSegments: number;
  /** Files of segments whose manifests were never written; they belong to no segment. */
  leftovers: number;
  /** The key was not given, but found in the archive. */
  keyFromArchive: boolean;
  /** Undefined when no call was asked for, when it is not in the archive, or when no checkpoint covers it. */
  proof?: CallProof | undefined;
}
