import { leafHash } from '../merkle/hashes.js';
import { numberText } from '../segment/names.js';
import { InvalidNote } from './signed-note.js';

/** Tree over the events of one generation of a partition. */
export interface TreeHead {
  readonly partition: string;
  readonly generation: number;
  readonly size: number;
  readonly root: Buffer;
}

/** Content of a signed checkpoint. */
export interface Checkpoint {
  /** Name of the archive and of the key. */
  readonly origin: string;
  /** Number of the checkpoint, from 1. */
  readonly number: number;
  /** RFC 6962 root over the records of all checkpoints up to this one. */
  readonly root: Buffer;
  /** Milliseconds since 1970, by the clock of the signer. */
  readonly time: number;
  /** Ascending by partition and generation. */
  readonly heads: readonly TreeHead[];
}

export const LOG_PREFIX = 'log/';
export const CHECKPOINT_PREFIX = `${LOG_PREFIX}checkpoint/`;
export const KEY_PREFIX = `${LOG_PREFIX}key/`;

export function checkpointName(number: number): string {
  return `${CHECKPOINT_PREFIX}${numberText(number)}`;
}

/** Name of a signer's public key in the archive. */
export function keyName(id: Buffer): string {
  return `${KEY_PREFIX}${id.toString('hex')}`;
}

/** Number in the name of a checkpoint; undefined for any other name. */
export function checkpointNumber(name: string): number | undefined {
  const [, text] = /^log\/checkpoint\/(\d{16})$/.exec(name) ?? [];
  return text === undefined ? undefined : Number(text);
}

/** Prefix of the tiles of the tree over the events of a generation. */
export function treePrefix(partition: string, generation: number): string {
  return `${LOG_PREFIX}p${partition}/g${generation}/`;
}

/** Extension lines of a checkpoint, which are also its leaf in the tree of checkpoints. */
export function recordText({ time, heads }: Pick<Checkpoint, 'time' | 'heads'>): string {
  const lines = heads.map(({ partition, generation, size, root }) => `p${partition}/g${generation} ${size} ${root.toString('base64')}\n`);
  return `time ${new Date(time).toISOString()}\n${lines.join('')}`;
}

export function recordHash(checkpoint: Pick<Checkpoint, 'time' | 'heads'>): Buffer {
  return leafHash(Buffer.from(recordText(checkpoint)));
}

/** Text of a checkpoint in the form of c2sp.org/tlog-checkpoint, to be signed as a note. */
export function checkpointText(checkpoint: Checkpoint): string {
  return `${checkpoint.origin}\n${checkpoint.number}\n${checkpoint.root.toString('base64')}\n${recordText(checkpoint)}`;
}

/** @throws InvalidNote for any text that `checkpointText` does not make */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', size = '', root = '', time = '', ...heads] = text.split('\n').slice(0, -1);
  const checkpoint: Checkpoint = {
    origin,
    number: Number(size),
    root: Buffer.from(root, 'base64'),
    time: Date.parse(time.replace(/^time /, '')),
    heads: heads.map(parseHead),
  };
  if (Number.isNaN(checkpoint.time) || checkpointText(checkpoint) !== text) throw new InvalidNote('is not a checkpoint of an archive');
  return checkpoint;
}

function parseHead(line: string): TreeHead {
  const [, partition = '', generation, size, root = ''] =
    /^p(\d{2,3})\/g([1-9]\d{0,8}) ([1-9]\d{0,15}) ([A-Za-z0-9+/]{43}=)$/.exec(line) ?? [];
  if (partition === '') throw new InvalidNote('has a line that is no tree head');
  return { partition, generation: Number(generation), size: Number(size), root: Buffer.from(root, 'base64') };
}
