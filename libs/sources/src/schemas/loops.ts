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
  for (const start of schemas) {
    if (done.has(start)) continue;
    const path: Frame[] = [{ node: start, edges: edgesOf(start, targetOf), byReference: false }];
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
        const loop = path.slice(path.findIndex(({ node }) => node === next));
        const last = loop.findLast((it) => it.byReference);
        if (last !== undefined) cut.add(last.node);
      } else if (!done.has(next)) {
        path.push({ node: next, edges: edgesOf(next, targetOf), byReference: false });
        open.add(next);
      }
    }
  }
  return cut;
}

/** Schemas that are checked against the same value. */
function edgesOf(node: JsonSchema, targetOf: (reference: string) => JsonSchema | boolean | undefined): Frame['edges'] {
  const { $ref, dependentSchemas, dependencies } = node;
  const parts: unknown[] = [
    ...ONE.map((key) => node[key]),
    ...MANY.flatMap((key) => node[key] ?? []),
    ...[dependentSchemas, dependencies].flatMap((it) => (isFields(it) ? Object.values(it) : [])),
  ];
  const edges = parts.flatMap((it) => (isSchema(it) && typeof it !== 'boolean' ? [[it, false] as const] : []));
  const target = typeof $ref === 'string' ? targetOf($ref) : undefined;
  return typeof target === 'object' ? [...edges, [target, true]] : edges;
}
