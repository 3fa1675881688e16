import { type FileChange, type Hunk, invalid } from './file-change.js';
import { commonNames, type HeaderName, nameBelowFolders, normalizePath, plainName, renamedNames, singleNames } from './patch-names.js';

/** Reading of the part of one file. */
export interface Part {
  /** First line, counted from 1. */
  readonly line: number;
  /** Written by a program that compares folders or files, which the names then begin with. */
  readonly compares: boolean;
  git?: readonly [string, string] | undefined;
  isGit?: true;
  before?: HeaderName;
  after?: HeaderName;
  /** Values of `rename from`, `copy to` and so on. */
  readonly said: Map<string, string>;
  readonly hunks: Hunk[];
  /** Line that declares a binary file. */
  binary?: string;
  note?: string;
}

const RENAME = 'To rename a file, write "diff --git a/old b/new", "rename from old" and "rename to new" above its hunks.';

/** Kind and names of a change. */
type Named = Pick<FileChange, 'kind' | 'path' | 'from'>;

/** File and kind of change of a part. `wanted` resolves ambiguous names. @throws ToolError */
export function namesOf(part: Part, wanted: ReadonlySet<string>): Named {
  const { said } = part;
  for (const kind of ['rename', 'copy'] as const) {
    const [from, to] = [said.get(`${kind} from`), said.get(`${kind} to`)];
    if (from !== undefined && to !== undefined) return { kind, from: normalizePath(plainName(from)), path: normalizePath(plainName(to)) };
    if (from !== undefined || to !== undefined) throw invalid(`line ${part.line} begins a ${kind} with only one name.`);
  }
  const isNew = said.has('new file mode') || (part.before?.isNone ?? false);
  const isGone = said.has('deleted file mode') || (part.after?.isNone ?? false);
  const kind = isNew ? 'create' : isGone ? 'delete' : 'change';
  return { kind, path: chosen(candidates(part), part, wanted) };
}

/** Likeliest first. */
function candidates({ git, before, after, compares, line }: Part): readonly string[] {
  const byGit = git === undefined ? [] : commonNames(...git);
  if (before === undefined || after === undefined) return byGit;
  if (before.name === '/dev/null' || after.name === '/dev/null') {
    if (before.name === after.name) throw invalid(`line ${line} names no file.`);
    const single = singleNames(before.name === '/dev/null' ? after.name : before.name);
    return byGit.some((it) => single.includes(it)) ? byGit : single;
  }
  const common = commonNames(before.name, after.name);
  if (common.length > 0) return common;
  const below = nameBelowFolders(before.name, after.name);
  return below !== undefined && (compares || before.isNone || after.isNone) ? [below] : [];
}

function chosen(names: readonly string[], { git, before, after, line }: Part, wanted: ReadonlySet<string>): string {
  const known = [before, after].flatMap((it) => (it === undefined || it.name === '/dev/null' ? [] : [...singleNames(it.name)]));
  const below = before && after && nameBelowFolders(before.name, after.name);
  const renamed = before && after && names.length === 0 ? renamedNames(before.name, after.name) : undefined;
  if (renamed !== undefined) throw invalid(`it renames ${renamed[0]} to ${renamed[1]} in line ${line}. ${RENAME}`);
  const meant = [...names, ...known, ...(below === undefined ? [] : [below])].filter((it) => wanted.has(it));
  const [name] = meant.length > 0 ? meant : names;
  if (name !== undefined && name !== '') return name;
  const [old, now] = before && after ? [before.name, after.name] : (git ?? ['?', '?']);
  throw invalid(`line ${line} changes ${old} to ${now}: two files. Name the same file in both lines. ${RENAME}`);
}
