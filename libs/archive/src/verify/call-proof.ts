import { z } from 'zod';
import { CALL_PROOF, type CallProof } from './call-proof-file.js';
import { treePrefix, type TreeHead } from '../checkpoint/checkpoint.js';
import { openCheckpoint, type SignedCheckpoint } from '../checkpoint/checkpoints.js';
import { InvalidNote, type NoteVerifier } from '../checkpoint/signed-note.js';
import { eventLeaves } from '../checkpoint/event-leaves.js';
import { leafHash } from '../merkle/hashes.js';
import { inclusionProof, verifyInclusion } from '../merkle/proofs.js';
import { HashTiles } from '../merkle/tiles.js';
import type { ArchiveStore } from '../store/archive-store.port.js';
import type { FoundEvent } from './verify-report.js';

/** Builds a proof; undefined unless the checkpoint covers all found events. */
export async function buildCallProof(
  store: ArchiveStore,
  callId: string,
  found: readonly FoundEvent[],
  { checkpoint, note }: SignedCheckpoint,
): Promise<CallProof | undefined> {
  const events: CallProof['events'] = [];
  for (const { partition, generation, index, line } of found) {
    const head = checkpoint.heads.find((tree) => tree.partition === partition && tree.generation === generation);
    const firstSeq = seqOf(line) - index;
    if (head === undefined || index >= head.size) return undefined;
    const tiles = new HashTiles(store, treePrefix(partition, generation), eventLeaves(store, partition, generation, firstSeq));
    const path = await inclusionProof(index, head.size, tiles.rootsAt(head.size));
    events.push({ partition, generation, index, line, path: path.map((hash) => hash.toString('base64')) });
  }
  return events.length === 0 ? undefined : { version: 1, callId, checkpoint: note, events };
}

/** Facts that a proof shows. */
export interface ProvenCall {
  readonly callId: string;
  readonly archive: string;
  readonly signedAt: Date;
  readonly events: readonly { readonly type: string; readonly time: string }[];
  /** True if all events from the first to End are proven. */
  readonly whole: boolean;
}

/**
 * Verifies a proof without an archive: the signature of the checkpoint, and each event's place in a signed tree.
 *
 * @throws InvalidNote with the failed check
 */
export function verifyCallProof(text: string, keys: readonly NoteVerifier[]): ProvenCall {
  const proof = parseProof(text);
  const checkpoint = openCheckpoint(proof.checkpoint, keys);
  const events = proof.events.map((event, number) => {
    const head = checkpoint.heads.find((tree) => tree.partition === event.partition && tree.generation === event.generation);
    if (head === undefined || !isIncluded(event, head)) throw new InvalidNote(`event ${number + 1} of the proof is not in the signed tree`);
    const envelope = ENVELOPE.safeParse(parseJson(event.line)).data;
    if (envelope?.subject !== proof.callId) throw new InvalidNote(`event ${number + 1} of the proof is not of call ${proof.callId}`);
    return envelope;
  });
  const dense = events.every(({ callver }, index) => callver === index + 1);
  const whole = dense && events.at(-1)?.type === 'call.end';
  return { callId: proof.callId, archive: checkpoint.origin, signedAt: new Date(checkpoint.time), events, whole };
}

const ENVELOPE = z.object({ id: z.string(), subject: z.string(), type: z.string(), time: z.string(), callver: z.number() });

function parseProof(text: string): CallProof {
  const proof = CALL_PROOF.safeParse(parseJson(text)).data;
  if (proof === undefined) throw new InvalidNote('is not a proof of a call');
  return proof;
}

function isIncluded(event: CallProof['events'][number], { size, root }: TreeHead): boolean {
  const path = event.path.map((hash) => Buffer.from(hash, 'base64'));
  return verifyInclusion({ index: event.index, size, root, leaf: leafHash(Buffer.from(event.line)), path });
}

function seqOf(line: string): number {
  return Number(ENVELOPE.parse(JSON.parse(line)).id.split('.')[2]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
