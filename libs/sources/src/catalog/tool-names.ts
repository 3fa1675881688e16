import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const VALID = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** Names that could be mistaken for `source__tool`. */
const QUALIFIED = /^[a-z][a-z0-9-]{0,31}__/;

/**
 * The name of a tool within its source: the raw name where it fits, else a readable form with a digest of the raw name.
 * Depends on the raw name alone, hence the same in every process. Leaves room for `source__`.
 */
export function mappedName(source: string, rawName: string): string {
  const room = MAX_LENGTH - source.length - 2;
  if (VALID.test(rawName) && rawName.length <= room) return rawName;
  const readable = rawName.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^[^A-Za-z]+/, '');
  return withDigest(readable, rawName, room);
}

function withDigest(readable: string, rawName: string, room: number): string {
  const digest = createHash('sha256').update(rawName).digest('hex').slice(0, 8);
  return `${readable.slice(0, room - 9) || 'tool'}_${digest}`;
}

/** A name as clients see it that write `_` for `-`. */
const seen = (name: string): string => name.replaceAll('-', '_');

export interface NamedTool {
  readonly source: string;
  /** Name from `mappedName`. */
  readonly name: string;
}

export interface CatalogName {
  readonly name: string;
  /** `source__name`, where the tool has a shorter name. */
  readonly aliases: readonly string[];
}

export const qualifiedName = ({ source, name }: NamedTool): string => `${source}__${name}`;

/**
 * The catalog name of each tool: `name` when no other tool of the group has it and it is not `taken`, else
 * `source__name`. Names that differ in `-` and `_` alone count as the same, and of two such tools of one source the one
 * with `-` gets a digest. `taken` has the names of all groups with precedence: built-in tools, then the operator's sources.
 * So a tenant's source never renames a tool that the operator's policy names. Pure.
 */
export function catalogNames(tools: readonly NamedTool[], taken: ReadonlySet<string>): CatalogName[] {
  const seenTaken = new Set([...taken].map(seen));
  const alike = new Map<string, { tools: number; readonly last: Map<string, string> }>();
  for (const { source, name } of tools) {
    const group = alike.get(seen(name)) ?? { tools: 0, last: new Map<string, string>() };
    group.tools += 1;
    // `_` comes after `-`.
    if (name > (group.last.get(source) ?? '')) group.last.set(source, name);
    alike.set(seen(name), group);
  }
  return tools.map((tool) => {
    const { name, source } = tool;
    const qualified = qualifiedName(tool);
    const group = alike.get(seen(name));
    if (group?.tools === 1 && !seenTaken.has(seen(name)) && !QUALIFIED.test(name)) return { name, aliases: [qualified] };
    if (group?.last.get(source) === name) return { name: qualified, aliases: [] };
    const digested = withDigest(name, name, MAX_LENGTH - source.length - 2);
    return { name: qualifiedName({ source, name: digested }), aliases: [qualified] };
  });
}
