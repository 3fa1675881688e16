import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto';

/** Signature type of Ed25519 in c2sp.org/signed-note. */
const ED25519 = 0x01;
const SEED_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const MAX_NOTE_CHARS = 1_000_000;

/** Signs notes under a name. */
export interface NoteSigner {
  readonly name: string;
  /** Verification key `<name>+<id>+<key>`. */
  readonly publicKey: string;
  sign(text: string): string;
}

export interface NoteVerifier {
  readonly name: string;
  readonly publicKey: string;
  readonly id: Buffer;
  verify(text: string, signature: Buffer): boolean;
}

export class InvalidNote extends Error {
  override readonly name = 'InvalidNote';
}

/** Generates a private key in the form of Go's note package: `PRIVATE+KEY+<name>+<id>+<base64 of 0x01 and the seed>`. */
export function generateSigningKey(name: string): string {
  const der = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
  const seed = der.subarray(SEED_PREFIX.length);
  const id = keyId(name, rawPublicKey(privateKeyOf(seed)));
  return `PRIVATE+KEY+${name}+${id.toString('hex')}+${Buffer.concat([Buffer.from([ED25519]), seed]).toString('base64')}`;
}

/** @throws InvalidNote for anything but a private key of this form; the message contains no part of the key */
export function parseSigningKey(text: string): NoteSigner {
  const [, name = '', idText, keyText = ''] = /^PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)\s*$/.exec(text) ?? [];
  const bytes = Buffer.from(keyText, 'base64');
  if (bytes.length !== 33 || bytes[0] !== ED25519)
    throw new InvalidNote('Expected a signing key of the form PRIVATE+KEY+<name>+<id>+<base64>, for Ed25519.');
  const key = privateKeyOf(bytes.subarray(1));
  const publicBytes = rawPublicKey(key);
  const id = keyId(name, publicBytes);
  if (id.toString('hex') !== idText) throw new InvalidNote(`The signing key of ${name} does not belong to its id ${idText}.`);
  return {
    name,
    publicKey: publicKeyText(name, publicBytes),
    sign: (note) => {
      const signature = Buffer.concat([id, sign(null, Buffer.from(note), key)]);
      return `${note}\n— ${name} ${signature.toString('base64')}\n`;
    },
  };
}

/** @throws InvalidNote for anything but `<name>+<id>+<base64 of 0x01 and the Ed25519 public key>` */
export function parsePublicKey(text: string): NoteVerifier {
  const [, name = '', idText, keyText = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)\s*$/.exec(text) ?? [];
  const bytes = Buffer.from(keyText, 'base64');
  if (bytes.length !== 33 || bytes[0] !== ED25519)
    throw new InvalidNote('Expected a public key of the form <name>+<id>+<base64>, for Ed25519.');
  const publicBytes = bytes.subarray(1);
  const id = keyId(name, publicBytes);
  if (id.toString('hex') !== idText) throw new InvalidNote(`The public key of ${name} does not belong to its id ${idText}.`);
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, publicBytes]), format: 'der', type: 'spki' });
  return {
    name,
    id,
    publicKey: publicKeyText(name, publicBytes),
    verify: (note, signature) => verify(null, Buffer.from(note), key, signature),
  };
}

/**
 * Text of a note signed by a known key. Ignores signatures of unknown keys.
 *
 * @throws InvalidNote if no known key signed it, a signature of a known key is wrong, or the form is another
 */
export function openNote(note: string, keys: readonly NoteVerifier[]): string {
  const { text, signatures } = splitNote(note);
  let verified = 0;
  for (const { name, bytes } of signatures) {
    const key = keys.find((known) => known.name === name && known.id.equals(bytes.subarray(0, 4)));
    if (key === undefined) continue;
    if (!key.verify(text, bytes.subarray(4))) throw new InvalidNote(`the signature of ${name} is wrong`);
    verified += 1;
  }
  if (verified === 0) throw new InvalidNote(`no known key signed it; signed by ${signatures.map(({ name }) => name).join(', ')}`);
  return text;
}

/** Splits a note into text and unverified signatures. @throws InvalidNote */
export function splitNote(note: string): { text: string; signatures: { name: string; bytes: Buffer }[] } {
  const end = note.lastIndexOf('\n\n');
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (end < 0 || note.length > MAX_NOTE_CHARS || !note.endsWith('\n') || /[\0-\x09\x0b-\x1f\ufffd]/.test(note))
    throw new InvalidNote('is not a signed note');
  const lines = note.slice(end + 2, -1).split('\n');
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

function parseSignature(line: string): { name: string; bytes: Buffer } {
  const [, name, text = ''] = /^— ([^+\s]+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? [];
  const bytes = Buffer.from(text, 'base64');
  // Canonical base64 only: unused bits of the last letter could be changed without notice.
  if (name === undefined || bytes.length < 5 || bytes.toString('base64') !== text) throw new InvalidNote('has a line that is no signature');
  return { name, bytes };
}

function keyId(name: string, publicKey: Uint8Array): Buffer {
  return createHash('sha256')
    .update(`${name}\n`)
    .update(Buffer.from([ED25519]))
    .update(publicKey)
    .digest()
    .subarray(0, 4);
}

function publicKeyText(name: string, publicKey: Buffer): string {
  return `${name}+${keyId(name, publicKey).toString('hex')}+${Buffer.concat([Buffer.from([ED25519]), publicKey]).toString('base64')}`;
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([SEED_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

function rawPublicKey(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_PREFIX.length);
}
