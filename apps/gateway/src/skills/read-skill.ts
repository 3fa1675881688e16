import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const FILE = 'SKILL.md';
const MAX_BYTES = 131_072;
const MAX_SKILLS = 200;
const MAX_DESCRIPTION = 1_024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const Header = z.object({ description: z.string().trim().min(1) });

export interface Skill {
  /** Name of the folder. */
  readonly name: string;
  readonly folder: string;
}

export interface SkillText {
  readonly description: string;
  /** Text of the file without its front matter. */
  readonly prompt: string;
}

/** Folders of a root that may be skills, sorted by name. Empty if the root cannot be read. */
export async function skillsIn(root: string): Promise<Skill[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((it) => it.isDirectory() && NAME.test(it.name)).map(({ name }) => name);
  return names
    .toSorted()
    .slice(0, MAX_SKILLS)
    .map((name) => ({ name, folder: join(root, name) }));
}

/**
 * Text of the `SKILL.md` in a folder; undefined without one. Links out of the folder are not followed. @throws Error with the
 * fault of the file
 */
export async function readSkill({ folder }: Pick<Skill, 'folder'>): Promise<SkillText | undefined> {
  const bytes = await readBounded(folder);
  return bytes === undefined ? undefined : parseSkill(bytes.toString('utf8'));
}

/** Parses a skill. Without valid front matter and description, the first line of text is the description. Pure. */
export function parseSkill(text: string): SkillText {
  const [whole = '', yaml = ''] = /^\uFEFF?---\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  const prompt = text.slice(whole.length).trim();
  const [firstLine = ''] = prompt.split('\n').filter((line) => line.trim() !== '');
  const description = descriptionOf(yaml) ?? firstLine.replace(/^#+\s*/, '');
  return { description: description.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_DESCRIPTION), prompt };
}

function descriptionOf(yaml: string): string | undefined {
  try {
    return Header.safeParse(parse(yaml, { maxAliasCount: 0 })).data?.description;
  } catch {
    return undefined;
  }
}

async function readBounded(folder: string): Promise<Buffer | undefined> {
  const path = join(folder, FILE);
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  if (!real.startsWith((await realpath(folder)) + sep)) throw new Error(`${FILE} is a link to a file outside its folder`);
  // Non-blocking: opening a pipe would hang.
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error(`${FILE} is no file`);
    if (found.size > MAX_BYTES) throw new Error(`${FILE} is larger than ${MAX_BYTES} bytes`);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
