import { keys } from '#redis';
import { changePostings, SEGMENT } from '../postings/postings.js';
import { bitOffset, BLOCK, BLOCK_BYTES, signatureBlock, slicesOfWords } from '../postings/signatures.js';
import { termsOf } from '../postings/terms.js';
import { sessionAfter, wordsOf } from '#history';
import { decodeRecord, encodeRecord } from '../record/packed-record.js';
import { countLive, decodeLive, encodeLive, liveFieldsOf } from '../stats/live-counts.js';
import { decodeSession, encodeSession } from '../stats/session-activity.js';
import type { Draft } from './draft.js';
import { countField, formatOpen, recordPlace, type Change, type Folded } from './fold-events.js';
import { writeNumbers } from './write-numbers.js';

/** Puts into the draft what a batch of events changes in the projection of a partition. */
export async function writeChanges(draft: Draft, partition: string, folded: Folded): Promise<void> {
  const { changes, counts, steps } = folded;
  for (const [tenantId, { after }] of counts) draft.set(keys.view(partition), countField(tenantId), String(after));
  for (const change of changes) writeRecord(draft, partition, change);
  const postings = postingChanges(partition, changes);
  for (const [key, terms] of postings) draft.want(key, ...terms.keys());
  wantSummaries(draft, partition, changes);
  wantBlocks(draft, partition, folded);
  const numbers = writeNumbers(draft, partition, steps);
  await draft.load();
  numbers();
  for (const [key, terms] of postings) {
    for (const [term, calls] of terms) draft.set(key, term, changePostings(draft.bytes(key, term), calls));
  }
  for (const change of changes) writeSummaries(draft, partition, change);
  writeSignatures(draft, partition, folded);
}

function writeRecord(draft: Draft, partition: string, { tenantId, ordinal, before, after }: Change): void {
  draft.set(...recordPlace(partition, tenantId, ordinal), encodeRecord(after));
  const open = keys.viewOpen(partition);
  if (after.status === 'ended') {
    if (before !== undefined) draft.set(open, after.id, undefined);
  } else if (before === undefined) draft.set(open, after.id, formatOpen(ordinal, tenantId));
}

/** Key → term → call within the segment → has it now. Only where a call's terms differ from before. */
function postingChanges(partition: string, changes: readonly Change[]): Map<string, Map<string, Map<number, boolean>>> {
  const all = new Map<string, Map<string, Map<number, boolean>>>();
  for (const { tenantId, ordinal, before, after } of changes) {
    const key = keys.viewPostings(partition, tenantId, Math.floor(ordinal / SEGMENT));
    const old = new Set(before === undefined ? [] : termsOf(before));
    const mark = (term: string, there: boolean) => {
      const terms = all.get(key) ?? new Map<string, Map<number, boolean>>();
      const calls = terms.get(term) ?? new Map<number, boolean>();
      all.set(key, terms.set(term, calls.set(ordinal % SEGMENT, there)));
    };
    for (const term of termsOf(after)) if (!old.delete(term)) mark(term, true);
    for (const term of old) mark(term, false);
  }
  return all;
}

function wantSummaries(draft: Draft, partition: string, changes: readonly Change[]): void {
  for (const { tenantId, after } of changes) {
    draft.want(keys.viewLive(partition, tenantId), ...liveFieldsOf(after));
    if (after.sessionId !== undefined) draft.want(keys.viewSessions(partition, tenantId), after.sessionId);
  }
}

/** What has not ended, and what sessions have done. */
function writeSummaries(draft: Draft, partition: string, { tenantId, before, after }: Change): void {
  if (before?.status !== after.status) {
    const live = keys.viewLive(partition, tenantId);
    for (const field of liveFieldsOf(after)) {
      let counts = decodeLive(draft.text(live, field));
      if (before !== undefined) counts = countLive(counts, before, -1);
      draft.set(live, field, encodeLive(countLive(counts, after, 1)));
    }
  }
  if (after.sessionId === undefined) return;
  const sessions = keys.viewSessions(partition, tenantId);
  const stored = draft.text(sessions, after.sessionId);
  const session = sessionAfter(stored === undefined ? undefined : decodeSession(stored), before, after);
  draft.set(sessions, after.sessionId, encodeSession(session));
  draft.score(keys.viewRecentSessions(partition, tenantId), after.sessionId, session.lastAt);
}

/** Blocks of calls that this batch fills: their signatures are written once, from all records of the block. */
function* filledBlocks({ counts }: Folded): Generator<{ tenantId: string; block: number }> {
  for (const [tenantId, { before, after }] of counts) {
    for (let block = Math.floor(before / BLOCK); block < Math.floor(after / BLOCK); block += 1) yield { tenantId, block };
  }
}

function wantBlocks(draft: Draft, partition: string, folded: Folded): void {
  for (const { tenantId, block } of filledBlocks(folded)) {
    for (let call = 0; call < BLOCK; call += 1) {
      const [key, field] = recordPlace(partition, tenantId, block * BLOCK + call);
      draft.want(key, field);
    }
  }
}

function writeSignatures(draft: Draft, partition: string, folded: Folded): void {
  for (const { tenantId, block } of filledBlocks(folded)) {
    const calls = Array.from({ length: BLOCK }, (_, call) => {
      const text = draft.text(...recordPlace(partition, tenantId, block * BLOCK + call));
      return text === undefined ? [] : slicesOfWords(wordsOf(decodeRecord(text)));
    });
    const first = block * BLOCK;
    const offset = ((first % SEGMENT) / BLOCK) * BLOCK_BYTES;
    draft.also('SETRANGE', keys.viewSignatures(partition, tenantId, Math.floor(first / SEGMENT)), offset, signatureBlock(calls));
  }
  for (const change of folded.changes) writeLateWords(draft, partition, change);
}

/** A call that fails after its block was filled brings the words of its error then. */
function writeLateWords(draft: Draft, partition: string, { tenantId, ordinal, before, after }: Change): void {
  if (before === undefined || before.error !== undefined || after.error === undefined) return;
  const total = Number(draft.text(keys.view(partition), countField(tenantId)) ?? 0);
  if (ordinal >= Math.floor(total / BLOCK) * BLOCK) return;
  const old = new Set(slicesOfWords(wordsOf(before)));
  const late = slicesOfWords(wordsOf(after)).filter((slice) => !old.has(slice));
  if (late.length === 0) return;
  const args = late.flatMap((slice) => ['SET', 'u1', bitOffset(ordinal % SEGMENT, slice), 1]);
  draft.also('BITFIELD', keys.viewSignatures(partition, tenantId, Math.floor(ordinal / SEGMENT)), ...args);
}
