import { createHash } from 'node:crypto';
import { NOTE_SEPARATOR } from '#contracts';
import { programOf } from './program.js';

const MESSAGE_CHARS = 500;

/**
 * Word with a slash, or with a file extension (a dot, a letter, then at most seven letters and digits): `/a/b`, `docs/plan.md`,
 * `nope.txt`, `.env`, without the full stop of a sentence. The match begins at a word, which keeps the search linear.
 */
const PATH =
  /(?<![\w.@%+~-])(?:[A-Za-z]:)?(?:[\w.@%+~-]*[\\/](?:[\w.@%+~\\/-]*[\w@%+~\\/-])?|[\w.@%+~-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w@%+~-]))/g;

/** Variable parts of messages of one kind of failure, in the order of their removal. All patterns take linear time. */
const VARIABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/"[^"]*"|'[^']*'|`[^`]*`/g, '<text>'],
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>)\],;]+/gi, '<url>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b\d{2,3}-[0-9A-HJKMNP-TV-Z]{26}\b/g, '<id>'],
  [PATH, '<path>'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, '<id>'],
  [/\d+(?:[.,:]\d+)*/g, '<n>'],
];

/** Message without numbers, ids, paths, URLs and quoted parts: the common text of one kind of failure. */
export function messageTemplate(message: string): string {
  const text = message.slice(0, MESSAGE_CHARS);
  return VARIABLE_PARTS.reduce((rest, [pattern, name]) => rest.replace(pattern, name), text)
    .replace(/\s+/g, ' ')
    .trim();
}

const ENDED = /^(?:exit \d+|signal \w+)(?= · |$)/;

/**
 * Fingerprint of a completed call with an error result. Commands are grouped by program and error line, silent ones by program
 * and exit code, which is not variable. `preview`: the beginning of the arguments as JSON.
 */
export function errorResultFingerprint(tool: string, note: string, preview: string): string {
  const [ended] = ENDED.exec(note) ?? [];
  if (ended === undefined) return fingerprintOf(tool, '', note);
  const program = programOf(preview);
  const words = note.slice(ended.length + NOTE_SEPARATOR.length);
  return words === '' ? fingerprintOf(tool, program === '' ? ended : `${ended} ${program}`, '') : fingerprintOf(tool, program, words);
}

/** Hash of 16 hex digits over tool, code and the message without its variable parts. */
export function fingerprintOf(tool: string, code: string, message: string): string {
  return createHash('sha256')
    .update(`${tool}\n${code}\n${messageTemplate(message)}`)
    .digest('hex')
    .slice(0, 16);
}
