import type { JsonSchema } from '#contracts';

/**
 * Schemas that check less than they were meant to: those that have lost a check, and all that have one of them as a part,
 * over any number of steps and references. `targetOf` is the schema that a reference names.
 */
export function inexactSchemas(
  schemas: Iterable<JsonSchema>,
  lossy: ReadonlySet<JsonSchema>,
  targetOf: (reference: string) => JsonSchema | boolean | undefined,
): ReadonlySet<JsonSchema> {
  const users = new Map<JsonSchema, JsonSchema[]>([...schemas].map((node) => [node, []]));
  for (const node of users.keys()) for (const part of partsOf(node, users, targetOf)) users.get(part)?.push(node);
  const inexact = new Set(lossy);
  for (const node of inexact) for (const user of users.get(node) ?? []) inexact.add(user);
  return inexact;
}

/** The next schemas within a schema, and the one that its reference names. */
function partsOf(
  node: JsonSchema,
  all: ReadonlyMap<unknown, unknown>,
  targetOf: (reference: string) => JsonSchema | boolean | undefined,
): JsonSchema[] {
  const isKnown = (value: unknown): value is JsonSchema => all.has(value);
  const { $ref } = node;
  const target = typeof $ref === 'string' ? targetOf($ref) : undefined;
  const parts = isKnown(target) ? [target] : [];
  const open: unknown[] = Object.values(node);
  while (open.length > 0) {
    const next = open.pop();
    if (isKnown(next)) parts.push(next);
    else if (typeof next === 'object' && next !== null) for (const part of Object.values<unknown>({ ...next })) open.push(part);
  }
  return parts;
}
