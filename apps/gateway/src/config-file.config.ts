import { readFileSync } from 'node:fs';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { z } from 'zod';
import { Autonomy, Label, Limits, PermissionMode, Scope, SCOPES, type Posture } from '#contracts';

const KeyEntry = z
  .strictObject({
    id: Label,
    key: z.string().min(16, 'expected at least 16 characters').optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits')
      .optional(),
    tenant: Label,
    agent: Label.optional(),
    scopes: z
      .array(Scope)
      .min(1)
      .default([...SCOPES]),
    tools: z.array(z.string().min(1)).optional(),
    ratePerMinute: z.number().int().positive().optional(),
    expiresAt: z.iso.datetime({ offset: true, error: 'expected an RFC 3339 time such as 2030-01-31T00:00:00Z' }).optional(),
  })
  .refine((entry) => (entry.key === undefined) !== (entry.sha256 === undefined), 'expected exactly one of `key` and `sha256`');
/** One API key as the operator writes it: the key itself, or only its SHA-256. */
export type KeyEntry = z.output<typeof KeyEntry>;

const ConfigFile = z.strictObject({
  keys: z
    .array(KeyEntry)
    .refine((entries) => new Set(entries.map((entry) => entry.id)).size === entries.length, 'expected a different `id` for every key')
    .refine((entries) => entries.every((entry) => entry.id !== 'bootstrap'), 'the id `bootstrap` belongs to TOOLYARD_API_KEY')
    .default([]),
  defaults: z
    .strictObject({ posture: z.strictObject({ autonomy: Autonomy.optional(), permissionMode: PermissionMode.optional() }).optional() })
    .default({}),
  limits: Limits.default({}),
  agents: z.record(Label, z.strictObject({ limits: Limits.optional() })).default({}),
});

export interface ConfigFileContent {
  readonly keys: readonly KeyEntry[];
  readonly posture?: Partial<Posture>;
  readonly limits?: Limits;
  readonly agentLimits?: Readonly<Record<string, Limits>>;
  /** `<path>:<line>: <field>: <what was expected>`; when there are any, the rest is empty. */
  readonly faults: readonly string[];
}

/** Reads the file that TOOLYARD_CONFIG names: YAML, of which JSON is a part. Never throws; what is wrong stands in `faults`. */
export function readConfigFile(path: string): ConfigFileContent {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { keys: [], faults: [`TOOLYARD_CONFIG: expected a readable file at ${path} (${codeOf(error)})`] };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    return {
      keys: [],
      faults: document.errors.map((error) => `${path}:${lines.linePos(error.pos[0]).line}: not valid YAML or JSON: ${error.message}`),
    };
  }
  const parsed = ConfigFile.safeParse(document.toJS() ?? {});
  if (parsed.success)
    return {
      keys: parsed.data.keys,
      limits: parsed.data.limits,
      agentLimits: limitsByAgent(parsed.data.agents),
      ...(parsed.data.defaults.posture ? { posture: parsed.data.defaults.posture } : {}),
      faults: [],
    };

  return {
    keys: [],
    faults: parsed.error.issues.map(
      (issue) => `${path}:${lineOf(document, lines, issuePath(issue))}: ${fieldName(issue)}: ${issue.message}`,
    ),
  };
}

function limitsByAgent(agents: z.output<typeof ConfigFile>['agents']): Record<string, Limits> {
  return Object.fromEntries(Object.entries(agents).flatMap(([agent, { limits }]) => (limits === undefined ? [] : [[agent, limits]])));
}

/** An unknown field is reported at the object that holds it; point at the field itself. */
function issuePath(issue: z.core.$ZodIssue): PropertyKey[] {
  return issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
}

function fieldName(issue: z.core.$ZodIssue): string {
  return issuePath(issue).map(String).join('.') || '(whole file)';
}

/** The line of the field, or of the nearest thing around it that the file really has. */
function lineOf(document: Document, lines: LineCounter, path: PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
