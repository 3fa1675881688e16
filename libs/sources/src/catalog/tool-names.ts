import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const VALID = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** What could be mistaken for `source__tool`. */
const QUALIFIED = /^[a-z][a-z0-9-]{0,31}__/;

/**
 * The name of a tool within its source: the raw name where it fits, else a readable form with a digest of the raw name.
 * It depends on the raw name alone, so it is the same in every process and for ever. It leaves room for `source__`.
 */
export function mappedName(source: string, rawName: string): string {
  const room = MAX_LENGTH - source.length - 2;
  if (VALID.test(rawName) && rawName.length <= room) return rawName;
  const digest = createHash('sha256').update(rawName).digest('hex').slice(0, 8);
  const readable = rawName.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^[^A-Za-z]+/, '');
  return `${readable.slice(0, room - 9) || 'tool'}_${digest}`;
}

export interface NamedTool {
  readonly source: string;
  /** As `mappedName` returns it. */
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
 * `source__name`. `taken` has the names of all groups with precedence: built-in tools, then the operator's sources. So a
 * tenant's source never renames a tool that the operator's policy names. Pure.
 */
export function catalogNames(tools: readonly NamedTool[], taken: ReadonlySet<string>): CatalogName[] {
  const count = new Map<string, number>();
  for (const { name } of tools) count.set(name, (count.get(name) ?? 0) + 1);
  return tools.map((tool) => {
    const qualified = qualifiedName(tool);
    const short = count.get(tool.name) === 1 && !taken.has(tool.name) && !QUALIFIED.test(tool.name);
    return short ? { name: tool.name, aliases: [qualified] } : { name: qualified, aliases: [] };
  });
}
