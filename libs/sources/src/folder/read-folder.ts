import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { FolderTool } from '#contracts';

const FILE = 'tool.yaml';
const MAX_BYTES = 262_144;
const MAX_TOOLS = 1_000;

export interface FoundTool {
  /** Real path of the tool's folder. */
  readonly folder: string;
  readonly tool: FolderTool;
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
    const states = await Promise.all(names.map((name) => stat(join(path, name, FILE)).catch(() => undefined)));
    return names.map((name, index) => `${name}:${states[index]?.mtimeMs}:${states[index]?.size}:${states[index]?.ino}`).join('|');
  } catch (error) {
    return String(error);
  }
}

async function readTool(folder: string): Promise<FoundTool | undefined> {
  const file = join(folder, FILE);
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  const parsed = FolderTool.safeParse(parse(await readFile(file, 'utf8')));
  if (parsed.success) return { folder: await realpath(folder), tool: parsed.data };
  throw new Error(parsed.error.issues.map(({ path: at, message }) => `${at.join('.') || 'file'}: ${message}`).join('; '));
}
