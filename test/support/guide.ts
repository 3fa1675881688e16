import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { ConfigFile } from '#contracts';

export interface GuideBlock {
  readonly language: string;
  /** Text after the language: the file of the block, or the way to run it. */
  readonly word: string;
  readonly text: string;
}

export interface Place {
  readonly folder: string;
  /** Texts of the guides, and what they are here: addresses, keys. */
  readonly replacements: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** Called where a guide starts Toolyard, which runs already: until it has what the guide has written so far. */
  readonly started?: () => Promise<void>;
}

const START = /^((?:\w+=\S+ )*)npm start$/;
/** A block that needs more than a test has. */
const BY_HAND = 'by-hand';

export function blocksOf(guide: string): readonly GuideBlock[] {
  const fences = readFileSync(guide, 'utf8').matchAll(/^```(\w+)(?: (\S+))?\n([^]*?)^```$/gm);
  return [...fences].map(([, language = '', word = '', text = '']) => ({ language, word, text }));
}

/** Variables with which the guides start Toolyard: the installation of the test needs them. */
export function startVariables(guides: readonly string[]): Record<string, string> {
  const lines = guides.flatMap((guide) => blocksOf(guide).flatMap(({ text }) => text.split('\n')));
  const words = lines.flatMap((line) => (START.exec(line)?.[1] ?? '').split(' ').filter((word) => word !== ''));
  return Object.fromEntries(words.map((word) => word.split('=') as [string, string]));
}

/** Writes and checks the blocks of a guide that are files, before Toolyard starts: some are its configuration. */
export function writeFiles(guide: string, place: Place): void {
  for (const block of blocksOf(guide)) if (isFile(block)) writeBlock(block, place);
}

/** Runs the commands of a guide in its order. @throws when one fails, or prints something else than the guide says */
export async function follow(guide: string, place: Place): Promise<void> {
  let printed = '';
  for (const block of blocksOf(guide)) {
    if (isFile(block)) writeBlock(block, place);
    else if (block.language === 'sh') printed = await run(block, place);
    else if (block.language === 'text') prints(guide, filledIn(block.text, place), printed);
    else throw new Error(`${guide}: nothing tries the block ${block.language} ${block.word}\n${block.text}`);
  }
}

const isFile = ({ word }: GuideBlock) => word.includes('.');

function writeBlock({ language, word, text }: GuideBlock, place: Place): void {
  const content = filledIn(text, place);
  if (language === 'json') JSON.parse(content);
  if (language === 'yaml' && !word.includes('/')) ConfigFile.parse(parse(content));
  const file = join(place.folder, word);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Returns what it has printed: both streams in the order of a terminal. */
async function run({ word, text }: GuideBlock, place: Place): Promise<string> {
  if (word !== BY_HAND && new RegExp(START, 'm').test(text)) await place.started?.();
  const commands = filledIn(text, place).replaceAll(new RegExp(START, 'gm'), ':');
  const words = word === BY_HAND ? ['-n', '-c', commands] : ['-euo', 'pipefail', '-c', `exec 2>&1\n${commands}`];
  const child = spawn('bash', words, { cwd: place.folder, env: place.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (chunk) => (said += String(chunk)));
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const code = await new Promise<number | null>((ended) => child.once('close', ended));
  if ((code !== 0) !== (word === 'fails')) throw new Error(`exit code ${code} of\n${commands}\n${said}`);
  return said;
}

function prints(guide: string, expected: string, printed: string): void {
  const parts = expected
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  if (!new RegExp(`^\\s*${parts.join('[^]*?')}\\s*$`).test(printed)) throw new Error(`${guide} says\n${expected}\nprinted was\n${printed}`);
}

function filledIn(text: string, { replacements }: Place): string {
  return Object.entries(replacements).reduce((filled, [from, to]) => filled.replaceAll(from, to), text);
}
