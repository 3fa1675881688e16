import { CHECKPOINT_PREFIX, checkpointNumber, KEY_PREFIX, keyName, LOG_PREFIX } from '../checkpoint/checkpoint.js';
import { InvalidNote, parsePublicKey, type NoteVerifier } from '../checkpoint/signed-note.js';
import { DROP_PREFIX, parseDropName } from '../retention/drop-statement.js';
import { listAll } from '../store/list-all.js';
import { parseSegmentName } from '../segment/names.js';
import { buildCallProof } from './call-proof.js';
import { verifyCheckpoints } from './verify-checkpoints.js';
import { verifyDrops } from './verify-drops.js';
import { verifyGeneration } from './verify-generation.js';
import { CallLedger } from './call-ledger.js';
import type { Fault, FoundEvent, ReportFault, VerifyReport } from './verify-report.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

export interface VerifyOptions {
  readonly store: ArchiveStore;
  /** Keys of trusted signers. Default: the key in the archive, which proves nothing about the signer. */
  readonly keys?: readonly NoteVerifier[];
  /** Second store of the checkpoints. */
  readonly published?: ArchiveStore | undefined;
  /** Call to make a proof of. */
  readonly callId?: string | undefined;
  /** Called for each fault. */
  readonly report: (fault: Fault) => void;
}

/**
 * Verifies everything in an archive: names, signatures and order of checkpoints, hash chains, Merkle trees, tiles, complete
 * sequence numbers, one End for each call, and signed statements for dropped segments. Memory grows only with open calls, not
 * with the archive.
 */
export async function verifyArchive(options: VerifyOptions): Promise<VerifyReport> {
  const { store, callId } = options;
  const found: FoundEvent[] = [];
  const report: VerifyReport = { ...EMPTY_REPORT, keyFromArchive: options.keys === undefined };
  const fault = (file: string, text: string, line?: number) => {
    report.faults += 1;
    options.report({ file, fault: text, ...(line === undefined ? {} : { line }) });
  };
  const keys = await verifyKeys(store, options.keys, fault);
  const generations = await verifyNames(store, report, fault);
  const { last, count } = await verifyCheckpoints({ store, keys, published: options.published, fault });
  report.checkpoints = count;
  const drops = await verifyDrops({ store, keys, published: options.published, fault });
  for (const [partition, numbers] of generations) {
    report.partitions += 1;
    const ledger = new CallLedger();
    let chain: string | undefined;
    for (const generation of numbers.toSorted((a, b) => a - b)) {
      const signed = last?.checkpoint.heads.find((head) => head.partition === partition && head.generation === generation)?.size ?? 0;
      const onEvent = (event: FoundEvent) => void (event.subject === callId && found.push(event));
      chain = await verifyGeneration({ store, partition, generation, chain, signed, drops, ledger, report, fault, onEvent });
    }
    report.openCalls += ledger.openCalls;
    report.endedCalls += ledger.endedCalls;
  }
  if (callId !== undefined && last !== undefined) report.proof = await buildCallProof(store, callId, found, last);
  return report;
}

const EMPTY_REPORT: VerifyReport = {
  faults: 0,
  partitions: 0,
  segments: 0,
  events: 0,
  endedCalls: 0,
  openCalls: 0,
  checkpoints: 0,
  unsignedEvents: 0,
  droppedEvents: 0,
  droppedSegments: 0,
  leftovers: 0,
  keyFromArchive: false,
};

/** Trusted keys: those given, else those in the archive itself. */
async function verifyKeys(
  store: ArchiveStore,
  given: readonly NoteVerifier[] | undefined,
  fault: ReportFault,
): Promise<readonly NoteVerifier[]> {
  const stored: NoteVerifier[] = [];
  for await (const name of listAll(store, KEY_PREFIX)) {
    const key = await readKey(store, name);
    if (key === undefined) fault(name, 'is not the public key that its name says');
    else stored.push(key);
  }
  for (const key of given ?? []) {
    if (!stored.some(({ publicKey }) => publicKey === key.publicKey)) fault(keyName(key.id), `is not the key ${key.publicKey}`);
  }
  return given ?? stored;
}

async function readKey(store: ArchiveStore, name: string): Promise<NoteVerifier | undefined> {
  try {
    const text = String(await store.get(name));
    const key = parsePublicKey(text);
    return keyName(key.id) === name && text === `${key.publicKey}\n` ? key : undefined;
  } catch (error) {
    if (error instanceof InvalidNote) return undefined;
    throw error;
  }
}

/** Checks that every name is valid, and files and manifests come in pairs. Returns the generations of each partition. */
async function verifyNames(store: ArchiveStore, report: VerifyReport, fault: ReportFault): Promise<Map<string, number[]>> {
  const generations = new Map<string, number[]>();
  let lastManifest: string | undefined;
  for await (const name of listAll(store, 'segments/')) {
    const segment = parseSegmentName(name);
    if (segment === undefined) fault(name, 'is not the name of a segment');
    else if (segment.kind === 'manifest') {
      const ascending = generations.get(segment.partition) ?? [];
      if (ascending.at(-1) !== segment.generation) generations.set(segment.partition, [...ascending, segment.generation]);
      lastManifest = name;
    } else if (lastManifest !== name.replace(/\.jsonl\.gz$/, '.json')) report.leftovers += 1;
  }
  for await (const name of listAll(store, LOG_PREFIX)) {
    if (!isLogName(name)) fault(name, 'is not the name of a checkpoint, key, tile, statement or file of leaves');
  }
  return generations;
}

function isLogName(name: string): boolean {
  if (name.startsWith(CHECKPOINT_PREFIX)) return checkpointNumber(name) !== undefined;
  if (name.startsWith(DROP_PREFIX)) return parseDropName(name) !== undefined;
  return /^log\/(key\/[0-9a-f]{8}|p\d{2,3}\/g[1-9]\d{0,8}\/leaves\/\d{16}|(p\d{2,3}\/g[1-9]\d{0,8}\/)?tile\/\d{1,2}\/(x\d{3}\/)*\d{3})$/.test(
    name,
  );
}
