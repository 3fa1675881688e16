import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import {
  JsonSchema,
  ToolName,
  type Pool,
  type RetryPolicy,
  type ToolDescriptor,
  type ToolEffect,
  type ToolTier,
  type WorkerPart,
} from '#contracts';
import type { ToolOptions } from '../tool.decorator.js';
import { toInputSchema } from '../validation/input-schema.js';

/** Facts from a source, before defaults are added. */
export type ToolFacts = Pick<ToolDescriptor, 'name' | 'description' | 'source' | 'input'> &
  Partial<
    Pick<
      ToolDescriptor,
      | 'label'
      | 'undescribed'
      | 'output'
      | 'tier'
      | 'effect'
      | 'pool'
      | 'subjects'
      | 'timeoutMs'
      | 'callers'
      | 'feature'
      | 'examples'
      | 'available'
    >
  > & {
    readonly retry?: Partial<RetryPolicy>;
    readonly aliases?: readonly string[];
    readonly requires?: readonly WorkerPart[];
  };

const POOL_OF_TIER: Record<ToolTier, Pool> = { read_only: 'read', side_effecting: 'write', privileged: 'shell' };
const DEFAULT_TIMEOUT_MS = 30_000;

/** Completes the facts of a tool. By default a tool is privileged and never run twice. */
export function describeTool(facts: ToolFacts): ToolDescriptor {
  const tier = facts.tier ?? 'privileged';
  const effect = facts.effect ?? (tier === 'read_only' ? 'pure' : 'once');
  const pool = facts.pool ?? POOL_OF_TIER[tier];
  const timeoutMs = facts.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const subjects = facts.subjects ?? [];
  const retry = { maxAttempts: effect === 'once' ? 1 : 3, backoffMs: 500, maxBackoffMs: 30_000, ...facts.retry };
  return {
    name: facts.name,
    label: facts.label ?? facts.name,
    description: facts.description,
    ...(facts.undescribed === true ? { undescribed: true } : {}),
    source: facts.source,
    version: versionOf({
      name: facts.name,
      input: facts.input,
      output: facts.output ?? null,
      tier,
      effect,
      pool,
      subjects,
      timeoutMs,
      retry,
    }),
    input: facts.input,
    ...(facts.output ? { output: facts.output } : {}),
    ...(facts.requires ? { requires: [...facts.requires] } : {}),
    tier,
    effect,
    pool,
    subjects,
    timeoutMs,
    retry,
    aliases: [...(facts.aliases ?? [])],
    ...(facts.feature === undefined ? {} : { feature: facts.feature }),
    ...(facts.callers === undefined ? {} : { callers: facts.callers }),
    examples: facts.examples ?? [],
    annotations: annotationsOf(tier, effect, pool),
    available: facts.available ?? { ok: true },
  };
}

/** Descriptor of a decorated class. Throws if its schemas have no equivalent in JSON Schema. */
export function describeDecorated(options: ToolOptions, source: string): ToolDescriptor {
  const { input, output, examples, subjects, ...facts } = options;
  return describeTool({
    ...facts,
    source,
    input: toInputSchema(input),
    subjects: [...(subjects ?? [])],
    ...(output ? { output: JsonSchema.parse(z.toJSONSchema(output)) } : {}),
    examples: (examples ?? []).map((example) => ({ ...example, arguments: z.json().parse(example.arguments) })),
  });
}

/** Problems that prevent the registration of a descriptor, each with the fix. Empty if there are none. */
export function descriptorProblems(tool: ToolDescriptor): string[] {
  const faults: string[] = [];
  for (const name of [tool.name, ...tool.aliases]) {
    if (!ToolName.safeParse(name).success) faults.push(`"${name}" is no tool name: use a letter, then at most 63 letters, digits, _ or -`);
  }
  if (tool.description.trim() === '')
    faults.push('the description is empty: write what the tool does, its limits and its errors, for the model');
  if (tool.input['type'] !== 'object')
    faults.push('the input is not an object schema: use z.strictObject({...}), also for no arguments at all');
  return faults;
}

/** Models do worse with longer descriptions, and providers cut them. */
export const LONG_DESCRIPTION_CHARACTERS = 10_000;

function annotationsOf(tier: ToolTier, effect: ToolEffect, pool: Pool): ToolDescriptor['annotations'] {
  return {
    readOnlyHint: tier === 'read_only',
    destructiveHint: tier !== 'read_only',
    idempotentHint: effect !== 'once',
    openWorldHint: pool === 'net' || pool === 'agent' || tier === 'privileged',
  };
}

/** Short digest over canonical JSON (RFC 8785): the same tool has the same version in every process. */
function versionOf(facts: object): string {
  return createHash('sha256')
    .update(canonicalize(facts) ?? '')
    .digest('hex')
    .slice(0, 16);
}
