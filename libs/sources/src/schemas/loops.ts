import type { JsonSchema } from '#contracts';
import { isFields } from '../fields.js';
import { isSchema } from './keywords.js';

const ONE = ['not', 'if', 'then', 'else'] as const;
const MANY = ['allOf', 'anyOf', 'oneOf'] as const;

interface Frame {
  readonly node: JsonSchema;
  readonly edges: (readonly [next: JsonSchema, isReference: boolean])[];
  /** The edge that is being followed is the reference of the node. */
  byReference: boolean;
}

/**
 * Schemas whose reference has to go: it leads back to where it stands without a step into the value, so that a checker
 * would never end. `targetOf` is the schema that a reference names.
 */
export function loopingReferences(
  schemas: Iterable<JsonSchema>,
  targetOf: (reference: string) => JsonSchema | boolean | undefined,
): Set<JsonSchema> {
  const cut = new Set<JsonSchema>();
  const done = new Set<JsonSchema>();
  const frameOf = (node: JsonSchema): Frame => ({ node, edges: edgesOf(node, cut.has(node) ? undefined : targetOf), byReference: false });
  for (const start of schemas) {
    if (done.has(start)) continue;
    const path: Frame[] = [frameOf(start)];
    const open = new Set([start]);
    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const [next, byReference] = frame.edges.pop() ?? [];
      if (next === undefined || byReference === undefined) {
        path.pop();
        open.delete(frame.node);
        done.add(frame.node);
        continue;
      }
      frame.byReference = byReference;
      if (open.has(next)) {
        const from = path.findIndex(({ node }) => node === next);
        const last = path.findLastIndex((it, index) => index >= from && it.byReference);
        const looping = path[last];
        if (looping === undefined) continue;
        cut.add(looping.node);
        // The reference leads nowhere now: parts behind it are not within its schema, and are visited again.
        for (const { node } of path.splice(last + 1)) open.delete(node);
      } else if (!done.has(next)) {
        path.push(frameOf(next));
        open.add(next);
      }
    }
  }
  return cut;
}

/** Schemas that are checked against the same value. */
function edgesOf(node: JsonSchema, targetOf?: (reference: string) => JsonSchema | boolean | undefined): Frame['edges'] {
  const { $ref, dependentSchemas, dependencies } = node;
  const parts: unknown[] = [
    ...ONE.map((key) => node[key]),
    ...MANY.flatMap((key) => node[key] ?? []),
    ...[dependentSchemas, dependencies].flatMap((it) => (isFields(it) ? Object.values(it) : [])),
  ];
  const edges = parts.flatMap((it) => (isSchema(it) && typeof it !== 'boolean' ? [[it, false] as const] : []));
  const target = typeof $ref === 'string' ? targetOf?.($ref) : undefined;
  return typeof target === 'object' ? [...edges, [target, true]] : edges;
}
