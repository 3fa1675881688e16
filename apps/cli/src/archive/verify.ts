import { readFileSync, statSync, writeFileSync, existsSync } from 'node:fs';
import {
  InvalidNote,
  parsePublicKey,
  verifyArchive,
  verifyCallProof,
  type Fault,
  type NoteVerifier,
  type VerifyReport,
  ArchiveUnusable,
  openArchive,
  type ArchiveStore,
} from '#archive';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';
import { oneLine } from '../terminal/safe-text.js';
import { UsageError } from '../usage-error.js';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface VerifyFlags {
  readonly key?: string | undefined;
  readonly published?: string;
  readonly call?: string;
  readonly proof?: string;
}

type Context = Pick<CommandContext, 'terminal' | 'json'>;

/** Verifies an archive, or a proof of a call that `--proof` wrote. Needs no gateway. */
export async function verify(context: Context, archive: string, flags: VerifyFlags): Promise<number> {
  const keys = flags.key?.split(',').map(readKey);
  if (statSync(archive, { throwIfNoEntry: false })?.isFile() === true) return verifyProofFile(context, archive, keys);
  const { terminal, json } = context;
  const report = await verifyArchive({
    store: await openGiven(archive),
    keys,
    published: flags.published === undefined ? undefined : await openGiven(flags.published),
    callId: flags.call,
    report: (fault) => (json ? terminal.json(fault) : terminal.line(faultText(context, fault))),
  });
  const { proof, ...numbers } = report;
  if (json) terminal.json({ ...numbers, ...(flags.call === undefined ? {} : { proven: proof !== undefined }) });
  else printReport(context, report);
  const proven = flags.call === undefined || reportProof(context, flags.call, proof, flags.proof);
  return report.faults === 0 && proven ? EXIT.completed : EXIT.failed;
}

function faultText({ terminal }: Context, { file, line, fault }: Fault): string {
  return `${terminal.colour('red', 'FAULT')}  ${shown(line === undefined ? file : `${file}, line ${line}`)}: ${shown(fault)}`;
}

function printReport({ terminal }: Context, report: VerifyReport): void {
  const {
    events,
    segments,
    partitions,
    endedCalls,
    openCalls,
    checkpoints,
    unsignedEvents,
    leftovers,
    faults,
    droppedEvents,
    droppedSegments,
  } = report;
  terminal.line(`${events} events in ${segments} segments of ${partitions} partitions; ${endedCalls} calls ended, ${openCalls} open`);
  if (droppedSegments > 0)
    terminal.line(`${droppedEvents} events in ${droppedSegments} segments were dropped by retention; their hashes are left`);
  terminal.line(`${checkpoints} checkpoints; ${unsignedEvents} events are not signed yet`);
  if (leftovers > 0) terminal.line(`${leftovers} files have no manifest and belong to no segment`);
  if (report.keyFromArchive)
    terminal.note('Signatures were checked with the key in the archive. Give --key, from where the archive cannot be written.');
  terminal.line(faults === 0 ? 'no fault' : `${faults} faults`);
}

/** True if the call is proven; writes the proof to the file. */
function reportProof({ terminal, json }: Context, callId: string, proof: VerifyReport['proof'], file: string | undefined): boolean {
  if (proof === undefined) {
    terminal.note(`toolyard: no checkpoint covers call ${shown(callId)}, or the archive does not have it`);
    return false;
  }
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(proof, undefined, 2)}\n`);
  if (!json)
    terminal.line(
      `call ${shown(callId)}: ${proof.events.length} events are in the signed archive${file === undefined ? '' : `; proof in ${file}`}`,
    );
  return true;
}

function verifyProofFile({ terminal, json }: Context, file: string, keys: readonly NoteVerifier[] | undefined): number {
  if (keys === undefined) throw new UsageError('To verify a proof, give the public key of the archive with --key.');
  try {
    const { events, ...proven } = verifyCallProof(readFileSync(file, 'utf8'), keys);
    if (json) terminal.json({ ...proven, events });
    else {
      terminal.line(`call ${shown(proven.callId)} is in the archive ${shown(proven.archive)}, signed at ${proven.signedAt.toISOString()}`);
      for (const { time, type } of events) terminal.line(`  ${shown(time)}  ${shown(type)}`);
      terminal.line(
        proven.whole
          ? 'all events of the call, from submission to End'
          : 'not all events of the call: it had not ended, or some are left out',
      );
    }
    return EXIT.completed;
  } catch (error) {
    if (!(error instanceof InvalidNote)) throw error;
    if (json) terminal.json({ file, fault: error.message });
    else terminal.line(`${terminal.colour('red', 'FAULT')}  ${file}: ${shown(error.message)}`);
    return EXIT.failed;
  }
}

/** Key as text, or path of a file with it. */
function readKey(text: string): NoteVerifier {
  try {
    return parsePublicKey(statSync(text, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(text, 'utf8') : text);
  } catch (error) {
    if (error instanceof InvalidNote) throw new UsageError(error.message);
    throw error;
  }
}

/** File names and ids come from the archive, which anyone may have written. */
function shown(text: string): string {
  return oneLine(text, 500);
}

/** Opens an archive to read: an address, or the path of a folder. @throws UsageError when it cannot be one */
async function openGiven(archive: string): Promise<ArchiveStore> {
  if (!/^(file|s3):/.test(archive) && !existsSync(archive))
    throw new UsageError(`There is no folder ${archive}. An archive is a folder, file:folder or s3://bucket/prefix.`);
  try {
    return await openArchive(/^(file|s3):/.test(archive) ? archive : pathToFileURL(resolve(archive)).href, { readOnly: true });
  } catch (error) {
    if (error instanceof ArchiveUnusable) throw new UsageError(error.message);
    throw error;
  }
}
