import type { CallStep } from './call-ledger.js';
import type { CallProof } from './call-proof-file.js';

/** Difference from the sealed content. */
export interface Fault {
  readonly file: string;
  /** Line, counted from 1, in the decompressed file. */
  readonly line?: number;
  readonly fault: string;
}

export type ReportFault = (file: string, fault: string, line?: number) => void;

/** Event with its place in the tree of its generation. */
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
  /** Events without a checkpoint yet. */
  unsignedEvents: number;
  /** Events dropped by retention under signed statements; only their hashes are left. Not among `events` and `segments`. */
  droppedEvents: number;
  droppedSegments: number;
  /** Files whose manifests were never written, and which belong to no segment. */
  leftovers: number;
  /** True if the key was not given, but found in the archive. */
  keyFromArchive: boolean;
  /** Undefined if no call was requested, or the call is not in the archive or under no checkpoint. */
  proof?: CallProof | undefined;
}
