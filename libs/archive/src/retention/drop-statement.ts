import { InvalidNote, openNote, type NoteVerifier } from '../checkpoint/signed-note.js';
import { LOG_PREFIX } from '../checkpoint/checkpoint.js';
import { numberText } from '../segment/names.js';

/** Retention of the calls of a tenant. */
export interface DropRule {
  /** Tenant; empty for events without one. */
  readonly tenantId: string;
  readonly days: number;
}

/** Statement that the segments of a generation from `fromSeq` to `toSeq` were dropped, after the days of all tenants in them. */
export interface DropStatement {
  /** Name of the archive and of the key. */
  readonly origin: string;
  readonly partition: string;
  readonly generation: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Root of the generation's tree that ends with `toSeq`. */
  readonly root: Buffer;
  /** Milliseconds since 1970, by the clock of the signer. */
  readonly time: number;
  /** Rules of every tenant with events in the range, ascending. */
  readonly rules: readonly DropRule[];
}

export const DROP_PREFIX = `${LOG_PREFIX}dropped/`;

const NO_TENANT = '*';

export function dropsPrefix(partition: string, generation?: number): string {
  return generation === undefined ? `${DROP_PREFIX}p${partition}/` : `${DROP_PREFIX}p${partition}/g${generation}/`;
}

/** `log/dropped/p07/g1/0000000000004096` */
export function dropName({ partition, generation, toSeq }: Pick<DropStatement, 'partition' | 'generation' | 'toSeq'>): string {
  return `${dropsPrefix(partition, generation)}${numberText(toSeq)}`;
}

/** Parts of the name of a statement; undefined for any other name. */
export function parseDropName(name: string): { partition: string; generation: number; toSeq: number } | undefined {
  const [, partition, generation, seq] = /^log\/dropped\/p(\d{2,3})\/g([1-9]\d{0,8})\/(\d{16})$/.exec(name) ?? [];
  return partition === undefined ? undefined : { partition, generation: Number(generation), toSeq: Number(seq) };
}

/** Text of a statement, to be signed as a note (c2sp.org/signed-note). */
export function dropText({ origin, partition, generation, fromSeq, toSeq, root, time, rules }: DropStatement): string {
  const lines = rules.map(({ tenantId, days }) => `tenant ${tenantId === '' ? NO_TENANT : tenantId} ${days}\n`);
  return (
    `${origin}\ndropped p${partition}/g${generation} ${fromSeq} ${toSeq}\nroot ${root.toString('base64')}\n` +
    `time ${new Date(time).toISOString()}\n${lines.join('')}`
  );
}

/**
 * Opens a statement signed by one of the keys.
 *
 * @throws InvalidNote for any text that `dropText` does not make, and for another signer
 */
export function openDrop(note: string, keys: readonly NoteVerifier[]): DropStatement {
  const text = openNote(note, keys);
  const [origin = '', range = '', root = '', time = '', ...rules] = text.split('\n').slice(0, -1);
  const [, partition = '', generation, fromSeq, toSeq] = /^dropped p(\d{2,3})\/g(\d{1,9}) (\d{1,16}) (\d{1,16})$/.exec(range) ?? [];
  const statement: DropStatement = {
    origin,
    partition,
    generation: Number(generation),
    fromSeq: Number(fromSeq),
    toSeq: Number(toSeq),
    root: Buffer.from(root.replace(/^root /, ''), 'base64'),
    time: Date.parse(time.replace(/^time /, '')),
    rules: rules.map(parseRule),
  };
  const isWhole = !Number.isNaN(statement.time) && statement.fromSeq <= statement.toSeq && rules.length > 0;
  if (!isWhole || dropText(statement) !== text) throw new InvalidNote('is not a statement about dropped segments');
  if (!keys.some(({ name }) => name === origin)) throw new InvalidNote(`is of the archive ${origin}`);
  return statement;
}

function parseRule(line: string): DropRule {
  const [, tenantId = '', days] = /^tenant (\S{1,128}) ([1-9]\d{0,5})$/.exec(line) ?? [];
  return { tenantId: tenantId === NO_TENANT ? '' : tenantId, days: Number(days) };
}
