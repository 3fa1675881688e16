import { describeTool, type ToolFacts } from '#tool-sdk';
import { LIMITS, ToolDescriptor, type AnnouncedTool, type NameRules, type Pool, type SourceKind } from '#contracts';
import { globMatches } from '#patterns';
import { checkableSchema } from '../schemas/checkable-schema.js';
import { comparisonBudget, type ComparisonBudget } from '../schemas/distinct-branches.js';
import { toolDigest } from './tool-digest.js';
import { renameTool } from './rename-tool.js';
import { mappedName } from './tool-names.js';
import { hasHiddenText, withoutHiddenText } from './visible-text.js';

/** A tool as its source describes it. Its facts count only where the operator trusts the source. */
export interface OfferedTool extends Omit<Partial<ToolFacts>, 'name' | 'source' | 'aliases' | 'available'> {
  /** The name by which the source knows it. */
  readonly rawName: string;
  readonly input: ToolFacts['input'];
  /** Digest of the program behind it, where the source knows it: another program is another tool. */
  readonly program?: string | undefined;
  /** Parts of it that were left out, with the reason. */
  readonly problems?: readonly string[];
}

/** Settings of the operator for the tools of a source. */
export interface OfferRules {
  readonly name: string;
  readonly kind: SourceKind;
  readonly trust: boolean;
  readonly pool?: Pool | undefined;
  readonly timeoutMs?: number | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly names?: NameRules | undefined;
}

export interface Offer {
  readonly tools: AnnouncedTool[];
  /** Tools and parts of tools that were left out, with the reason. */
  readonly problems: string[];
}

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TOOLS = 5_000;
const MAX_TOOL_BYTES = 262_144;
const TOO_LARGE = `it is larger than ${MAX_TOOL_BYTES} bytes`;
const MAX_TOTAL_BYTES = 16_777_216;
const MAX_PROBLEMS = 50;
const MAX_DESCRIPTION = 20_000;
/** Most unreadable parts of one schema in `problems`. */
const MAX_LEFT = 5;

/**
 * Turns what a source offers into catalog entries: filters, maps names, applies trust, bounds sizes. Nothing that the
 * source says can make this throw; a tool that does not fit is left out, with a sentence.
 */
export function acceptOffer(offered: readonly OfferedTool[], rules: OfferRules, leftOut: readonly string[] = []): Offer {
  const tools = new Map<string, AnnouncedTool>();
  const problems: string[] = [...leftOut];
  const parts: string[] = [];
  const wanted = offered
    .map((offer) => ({ offer, name: offeredName(rules, offer.rawName) }))
    .filter(({ offer, name }) => isWanted(name, offer.rawName, rules));
  const taken = wanted.slice(0, MAX_TOOLS);
  const alike = rules.names === undefined ? new Set<string>() : ambiguous(taken);
  const comparisons = rules.kind === 'mcp' ? comparisonBudget() : undefined;
  let bytes = 0;
  for (const { offer, name } of taken) {
    if (alike.has(name)) {
      problems.push(`${JSON.stringify(offer.rawName.slice(0, 128))}: \`names\` gives another tool of the source the name ${name}, too`);
      continue;
    }
    const built = announced(offer, name, rules, comparisons);
    if (typeof built === 'string') problems.push(`${JSON.stringify(offer.rawName.slice(0, 128))}: ${built}`);
    else if (tools.has(name)) problems.push(`${name}: the source offers two tools with this name`);
    else if ((bytes += JSON.stringify(built.tool).length) > MAX_TOTAL_BYTES)
      problems.push(`${name}: the tools of the source are larger than ${MAX_TOTAL_BYTES} bytes`);
    else {
      tools.set(name, built.tool);
      for (const problem of built.problems) parts.push(`${name}: ${problem}`);
    }
  }
  if (wanted.length > MAX_TOOLS)
    problems.push(`the source offers ${wanted.length} tools, of which ${MAX_TOOLS} are taken; use \`include\``);
  return {
    tools: [...tools.values()].toSorted((a, b) => (a.descriptor.name < b.descriptor.name ? -1 : 1)),
    problems: [...problems, ...parts].slice(0, MAX_PROBLEMS),
  };
}

/** Names that rules give to tools of different raw names: a new tool could take the place of an accepted one. */
function ambiguous(tools: readonly { readonly offer: OfferedTool; readonly name: string }[]): Set<string> {
  const first = new Map<string, string>();
  return new Set(
    tools.flatMap(({ offer: { rawName }, name }) => {
      const known = first.get(name) ?? rawName;
      first.set(name, known);
      return known === rawName ? [] : [name];
    }),
  );
}

/** The name of a tool within its source. */
export function offeredName({ name, names }: Pick<OfferRules, 'name' | 'names'>, rawName: string): string {
  return mappedName(name, renameTool(rawName, names));
}

/** True if the operator's globs include the tool. */
export function isWanted(name: string, rawName: string, { include, exclude = [] }: Pick<OfferRules, 'include' | 'exclude'>): boolean {
  const matches = (glob: string) => glob === name || glob === rawName || globMatches(glob, name);
  return (include === undefined || include.some(matches)) && !exclude.some(matches);
}

interface Announced {
  readonly tool: AnnouncedTool;
  readonly problems: readonly string[];
}

/** The catalog entry, or why there is none. */
function announced(offer: OfferedTool, name: string, rules: OfferRules, comparisons: ComparisonBudget | undefined): Announced | string {
  if (isDeeper({ input: offer.input, output: offer.output }, LIMITS.jsonDepth))
    return `expected schemas of at most ${LIMITS.jsonDepth} levels`;
  // Checked before the schemas are read, which takes longer than measuring their size.
  if (JSON.stringify([offer.input, offer.output]).length > MAX_TOOL_BYTES) return TOO_LARGE;
  const visible = withoutHiddenText(offer);
  const {
    rawName,
    description = '',
    label,
    input,
    output,
    examples,
    tier,
    effect,
    pool,
    retry,
    subjects,
    timeoutMs,
    problems = [],
  } = visible;
  if (rawName === '' || rawName.length > 128) return 'expected a name of 1 to 128 characters';
  // Libraries for MCP servers write the schema of what the tool gets after defaults are filled in.
  const checked = checkableSchema(input, { fillsDefaults: rules.kind === 'mcp', comparisons });
  if (![checked.schema['type']].flat().includes('object')) return 'expected an input schema with "type": "object"';
  const result = output === undefined ? undefined : checkableSchema(output, { comparisons });
  const described = description.trim() === '' ? undefined : description.slice(0, MAX_DESCRIPTION);
  const facts = rules.trust ? { tier, effect, pool, retry, subjects, timeoutMs } : {};
  const descriptor = ToolDescriptor.safeParse(
    describeTool({
      name,
      source: rules.name,
      label: (label ?? mappedName(rules.name, rawName)).slice(0, 200),
      description: described ?? `${KIND_NAMES[rules.kind]} tool (no description)`,
      ...(described === undefined ? { undescribed: true } : {}),
      input: { ...checked.schema, type: 'object' },
      ...(result === undefined ? {} : { output: result.schema }),
      ...(rules.trust && examples !== undefined ? { examples } : {}),
      ...facts,
      // Calls of foreign workers have queues of their own: their pool says whose credit they use, and widens nothing.
      pool: rules.pool ?? (rules.kind === 'worker' ? pool : facts.pool) ?? (rules.kind === 'folder' ? 'shell' : 'net'),
      timeoutMs: rules.timeoutMs ?? facts.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    }),
  );
  if (!descriptor.success) return descriptor.error.issues[0]?.message ?? 'its description is not valid';
  if (JSON.stringify(descriptor.data).length > MAX_TOOL_BYTES) return TOO_LARGE;
  const digest = toolDigest(rules.name, rawName, descriptor.data, offer.program);
  const tool = { rawName, digest, descriptor: { ...descriptor.data, version: digest.slice(0, 16) } };
  const hidden = visible === offer ? [] : ['hidden characters were removed from its texts'];
  if (hasHiddenText(visible)) hidden.push('names or values of its schemas have hidden characters, which stay');
  return { tool, problems: [...problems, ...hidden, ...leftOf('input', checked.left), ...leftOf('output', result?.left ?? [])] };
}

function leftOf(schema: string, left: readonly string[]): string[] {
  const shown = left.slice(0, MAX_LEFT).map((it) => `${schema}${it}`);
  return left.length > MAX_LEFT ? [...shown, `${left.length - MAX_LEFT} more parts of its ${schema} schema cannot be read`] : shown;
}

/** True for nesting beyond the limit, which might be readable here but not with less of the stack left. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

const KIND_NAMES: Record<SourceKind, string> = {
  mcp: 'MCP',
  openapi: 'OpenAPI',
  folder: 'Folder',
  worker: 'Worker',
  agent: 'Agent',
  plugin: 'Plugin',
};
