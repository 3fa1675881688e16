import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ToolChange, ToolDescriptor } from '#contracts';

const FIELDS = ['label', 'description', 'input', 'output', 'tier', 'effect', 'pool', 'timeoutMs', 'retry', 'subjects'] as const;

/** Digest of all facts whose change a person must accept: the texts for models, the input of policy, and the program. */
export function toolDigest(source: string, rawName: string, tool: ToolDescriptor, program?: string): string {
  const facts = Object.fromEntries(FIELDS.map((field) => [field, tool[field] ?? null]));
  return createHash('sha256')
    .update(canonicalize({ source, rawName, ...facts, ...(program === undefined ? {} : { program }) }) ?? '')
    .digest('hex');
}

/** The fields in which two versions of a tool differ. */
export function toolChanges(before: ToolDescriptor, after: ToolDescriptor): ToolChange[] {
  return FIELDS.flatMap((field) => {
    const [old, now] = [textOf(before[field]), textOf(after[field])];
    return old === now ? [] : [{ field, before: old, after: now }];
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (canonicalize(value) ?? '');
}
