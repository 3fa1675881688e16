import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { FolderTool, validationFaults } from '#contracts';
import { isOwnFile } from './program-word.js';

const FILE = 'tool.yaml';
const MAX_BYTES = 262_144;
const MAX_TOOLS = 1_000;
/** Size limit for a digest of a program's content. For larger programs, size and modification time count. */
const MAX_PROGRAM_BYTES = 16_777_216;

export interface FoundTool {
  /** Real path of the tool's folder. */
  readonly folder: string;
  readonly tool: FolderTool;
  /** Digest of the files beside `tool.yaml` that `run` names. */
  readonly program: string;
  /** `programState` before they were read. */
  readonly state: string;
}

export interface FolderContent {
  readonly tools: readonly FoundTool[];
  /** Folders whose `tool.yaml` cannot be used, with the reason. */
  readonly problems: readonly string[];
}

/** The tools of a folder by its sub-folders, sorted. Rejects when the folder itself cannot be read. */
export async function readFolder(path: string): Promise<FolderContent> {
  const names = (await readdir(path, { withFileTypes: true })).filter((it) => !it.isFile()).map(({ name }) => name);
  const tools = new Map<string, FoundTool>();
  const problems: string[] = [];
  for (const name of names.toSorted().slice(0, MAX_TOOLS)) {
    try {
      const found = await readTool(join(path, name));
      if (found === undefined) continue;
      if (tools.has(found.tool.name)) problems.push(`${name}: another folder has a tool called ${found.tool.name}`);
      else tools.set(found.tool.name, found);
    } catch (error) {
      problems.push(`${name}/${FILE}: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`);
    }
  }
  return { tools: [...tools.values()], problems };
}

/** Changes when any `tool.yaml` of the folder does. Never rejects. */
export async function folderSignature(path: string): Promise<string> {
  try {
    const names = (await readdir(path)).toSorted().slice(0, MAX_TOOLS);
    return await statesOf(names.map((name) => join(path, name, FILE)));
  } catch (error) {
    return String(error);
  }
}

/** Changes when a file does that `run` names. Never rejects. */
export function programState({ folder, tool }: Pick<FoundTool, 'folder' | 'tool'>): Promise<string> {
  return statesOf(programFiles(folder, tool));
}

async function statesOf(files: readonly string[]): Promise<string> {
  const states = await Promise.all(files.map((file) => stat(file).catch(() => undefined)));
  return files.map((file, index) => `${file}:${states[index]?.mtimeMs}:${states[index]?.size}:${states[index]?.ino}`).join('|');
}

async function readTool(folder: string): Promise<FoundTool | undefined> {
  const file = join(folder, FILE);
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  const parsed = FolderTool.safeParse(parse(await readFile(file, 'utf8')));
  if (parsed.success) {
    const real = await realpath(folder);
    const state = await programState({ folder: real, tool: parsed.data });
    return { folder: real, tool: parsed.data, state, program: await programDigest(real, parsed.data) };
  }
  throw new Error(validationFaults(parsed.error, 'file').join('; '));
}

function programFiles(folder: string, { run }: FolderTool): string[] {
  return run.filter((word, index) => isOwnFile(folder, word, index)).map((word) => join(folder, word));
}

async function programDigest(folder: string, tool: FolderTool): Promise<string> {
  const digest = createHash('sha256');
  for (const file of programFiles(folder, tool)) digest.update(await contentOf(file)).update('\0');
  return digest.digest('hex');
}

/** Content of a program for the digest: `none` for a missing file, which fails at its run; size and modification time if too large. */
async function contentOf(file: string): Promise<Buffer | string> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) return 'none';
  return found.size > MAX_PROGRAM_BYTES ? `${found.size}:${found.mtimeMs}` : readFile(file);
}
