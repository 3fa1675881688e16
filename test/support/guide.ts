import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { ConfigFile } from '#contracts';
import { eventually } from './eventually.js';

export interface GuideBlock {
  readonly language: string;
  /** What stands after the language: the file that the block is, or how it is run. */
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
  for (const { language, word, text } of blocksOf(guide)) {
    if (!word.includes('.')) continue;
    const content = filledIn(text, place);
    if (language === 'json') JSON.parse(content);
    if (word === 'toolyard.yaml') ConfigFile.parse(parse(content));
    const file = join(place.folder, word);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** Runs the commands of a guide in its order. @throws when one fails, or prints something else than the guide says */
export async function follow(guide: string, place: Place): Promise<void> {
  const background: ChildProcess[] = [];
  let printed: () => string = () => '';
  try {
    for (const block of blocksOf(guide)) {
      if (block.word.includes('.')) writeBlock(block, place);
      else if (block.language === 'sh') printed = await run(block, place, background);
      else if (block.language === 'text') await prints(guide, filledIn(block.text, place), printed, background.length > 0);
      else throw new Error(`${guide}: nothing tries the block ${block.language} ${block.word}\n${block.text}`);
    }
  } finally {
    for (const child of background) if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  }
}

function writeBlock({ word, text }: GuideBlock, place: Place): void {
  const file = join(place.folder, word);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, filledIn(text, place));
}

/** Returns what it has printed. */
async function run({ word, text }: GuideBlock, place: Place, background: ChildProcess[]): Promise<() => string> {
  if (new RegExp(START, 'm').test(text)) await place.started?.();
  const commands = filledIn(text, place).replaceAll(new RegExp(START, 'gm'), ':');
  // Both streams in the order of a terminal. In a group of its own, which is ended with all that it has started.
  const words = word === BY_HAND ? ['-n', '-c', commands] : ['-euo', 'pipefail', '-c', `exec 2>&1\n${commands}`];
  const child = spawn('bash', words, { cwd: place.folder, env: place.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  background.push(child);
  let said = '';
  child.stdout.on('data', (chunk) => (said += String(chunk)));
  if (word === 'other-terminal') return () => said;
  const code = await new Promise<number | null>((ended) => child.once('close', ended));
  background.pop();
  if ((code !== 0) !== (word === 'fails')) throw new Error(`exit code ${code} of\n${commands}\n${said}`);
  return () => said;
}

async function prints(guide: string, expected: string, printed: () => string, isRunning: boolean): Promise<void> {
  const lines = expected
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pattern = new RegExp(`^\\s*${lines.join('[^]*?')}\\s*$`);
  if (isRunning) await eventually(() => pattern.test(printed()), `${guide}: ${expected}`);
  else if (!pattern.test(printed())) throw new Error(`${guide} says\n${expected}\nprinted was\n${printed()}`);
}

function filledIn(text: string, { replacements }: Place): string {
  return Object.entries(replacements).reduce((filled, [from, to]) => filled.replaceAll(from, to), text);
}
