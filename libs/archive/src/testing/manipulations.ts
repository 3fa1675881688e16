import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import canonicalize from 'canonicalize';
import { MANIFEST } from '../segment/manifest.js';
import fc from 'fast-check';
import { sha256 } from '../merkle/hashes.js';

/** Reversible change of an archive in a folder. */
export interface Manipulation {
  readonly what: string;
  /** Names, one of which must be in a fault. */
  readonly names: readonly string[];
  apply(folder: string): Promise<void>;
  undo(folder: string): Promise<void>;
}

/** Random manipulations of the archive with these names. */
export function manipulations(names: readonly string[]): fc.Arbitrary<Manipulation> {
  const name = fc.constantFrom(...names);
  const segment = fc.constantFrom(...names.filter((found) => found.endsWith('.jsonl.gz')));
  const checkpoint = fc.constantFrom(...names.filter((found) => found.startsWith('log/checkpoint/')));
  const number = fc.nat();
  return fc.oneof(
    fc.tuple(name, number).map(([file, place]) => edit('a bit', file, (bytes) => flip(bytes, place))),
    fc.tuple(name, number).map(([file, place]) => edit('a cut file', file, (bytes) => bytes.subarray(0, place % bytes.length))),
    fc
      .tuple(name, number)
      .map(([file, place]) => edit('an added byte', file, (bytes) => Buffer.concat([bytes, Buffer.from([place % 256])]))),
    fc.tuple(segment, fc.constantFrom('removed', 'repeated', 'swapped', 'edited'), number, fc.boolean()).map(lineManipulation),
    name.map(removal),
    fc
      .tuple(name, name)
      .filter(([a, b]) => a !== b)
      .map(([a, b]) => swap(a, b)),
    fc.tuple(name, number).map(([file, digits]) =>
      renaming(
        file,
        file.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1 + (digits % 9)) % 10)),
      ),
    ),
    name.map((file) => renaming(file, `${file}.old`)),
    fc.tuple(checkpoint, number).map(([file, place]) => edit('a digit of a checkpoint', file, (bytes) => changeDigit(bytes, place))),
    checkpoint.map(removal),
  );
}

function edit(what: string, file: string, change: (bytes: Buffer) => Buffer): Manipulation {
  let before: Buffer;
  return {
    what: `${what} in ${file}`,
    names: [file],
    apply: async (folder) => {
      before = await readFile(join(folder, file));
      await writeFile(join(folder, file), change(before));
    },
    undo: (folder) => writeFile(join(folder, file), before),
  };
}

function flip(bytes: Buffer, place: number): Buffer {
  const changed = Buffer.from(bytes);
  const bit = place % (bytes.length * 8);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

function changeDigit(bytes: Buffer, place: number): Buffer {
  const text = bytes.toString();
  const digits = [...text.matchAll(/\d/g)].map(({ index }) => index);
  const at = digits[place % digits.length] ?? 0;
  return Buffer.from(text.slice(0, at) + String((Number(text[at]) + 1) % 10) + text.slice(at + 1));
}

type LineChange = 'removed' | 'repeated' | 'swapped' | 'edited';

/** `covered`: the manifest gets the digest of the new file, like by an attacker who does not compute chains. */
function lineManipulation([file, kind, place, covered]: [string, LineChange, number, boolean]): Manipulation {
  const manifestName = file.replace('.jsonl.gz', '.json');
  let before: { file: Buffer; manifest: Buffer };
  return {
    what: `a line ${kind} in ${file}${covered ? ', manifest adapted' : ''}`,
    names: [file, manifestName],
    apply: async (folder) => {
      before = { file: await readFile(join(folder, file)), manifest: await readFile(join(folder, manifestName)) };
      const lines = gunzipSync(before.file).toString().trimEnd().split('\n');
      const changed = gzipSync(`${changeLine(lines, kind, place % lines.length).join('\n')}\n`);
      await writeFile(join(folder, file), changed);
      if (!covered) return;
      const manifest = MANIFEST.parse(JSON.parse(before.manifest.toString()));
      manifest.file = { ...manifest.file, bytes: changed.length, sha256: sha256(changed).toString('hex') };
      await writeFile(join(folder, manifestName), `${canonicalize(manifest)}\n`);
    },
    undo: async (folder) => {
      await writeFile(join(folder, file), before.file);
      await writeFile(join(folder, manifestName), before.manifest);
    },
  };
}

function changeLine(lines: readonly string[], kind: LineChange, at: number): string[] {
  const line = lines[at] ?? '';
  const next = (at + 1) % lines.length;
  switch (kind) {
    case 'removed':
      return lines.toSpliced(at, 1);
    case 'repeated':
      return lines.toSpliced(at, 0, line);
    case 'swapped':
      return lines.with(at, lines[next] ?? '').with(next, line);
    case 'edited':
      return lines.with(at, line.replace('grüße', 'grausame Grüße'));
  }
}

function removal(file: string): Manipulation {
  let before: Buffer;
  return {
    what: `${file} removed`,
    names: [file],
    apply: async (folder) => {
      before = await readFile(join(folder, file));
      await rm(join(folder, file));
    },
    undo: (folder) => writeFile(join(folder, file), before),
  };
}

function swap(a: string, b: string): Manipulation {
  const exchange = async (folder: string) => {
    await rename(join(folder, a), join(folder, 'swapped'));
    await rename(join(folder, b), join(folder, a));
    await rename(join(folder, 'swapped'), join(folder, b));
  };
  return { what: `${a} and ${b} swapped`, names: [a, b], apply: exchange, undo: exchange };
}

/** Renames a file; replaces an existing one. */
function renaming(from: string, to: string): Manipulation {
  let [before, replaced]: [Buffer, Buffer | undefined] = [Buffer.alloc(0), undefined];
  return {
    what: `${from} renamed to ${to}`,
    names: [from, to],
    apply: async (folder) => {
      before = await readFile(join(folder, from));
      replaced = await readFile(join(folder, to)).catch(() => undefined);
      await rename(join(folder, from), join(folder, to));
    },
    undo: async (folder) => {
      await rm(join(folder, to));
      if (replaced !== undefined) await writeFile(join(folder, to), replaced);
      await writeFile(join(folder, from), before);
    },
  };
}
