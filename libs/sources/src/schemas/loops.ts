import type { JsonSchema } from '#contracts';
import { isFields } from '../fields.js';
import { isSchema } from './keywords.js';

const ONE = ['not', 'if', 'then', 'else'] as const;
const MANY = ['allOf', 'anyOf', 'oneOf'] as const;

type Edge = readonly [next: JsonSchema, isReference: boolean];

interface Frame {
  readonly node: JsonSchema;
  /** Edges that are not completely followed yet. The last one is in progress. */
  readonly edges: Edge[];
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
  const frames = new Map<JsonSchema, Frame>();
  const frameOf = (node: JsonSchema): Frame => {
    const frame = frames.get(node) ?? { node, edges: edgesOf(node, targetOf) };
    frames.set(node, frame);
    return frame;
  };
  for (const start of schemas) {
    if (done.has(start)) continue;
    const path: Frame[] = [frameOf(start)];
    const open = new Set([start]);
    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const [next] = frame.edges.at(-1) ?? [];
      if (next === undefined) {
        path.pop();
        open.delete(frame.node);
        done.add(frame.node);
      } else if (done.has(next)) frame.edges.pop();
      else if (open.has(next)) {
        const from = path.findIndex(({ node }) => node === next);
        const last = path.findLastIndex(({ edges }, index) => index >= from && edges.at(-1)?.[1] === true);
        const looping = path[last];
        (looping ?? frame).edges.pop();
        if (looping === undefined) continue;
        cut.add(looping.node);
        // The reference leads nowhere now: parts behind it are not within its schema, and go on later where they are.
        for (const { node } of path.splice(last + 1)) open.delete(node);
      } else {
        path.push(frameOf(next));
        open.add(next);
      }
    }
  }
  return cut;
}

/** Schemas that are checked against the same value. */
function edgesOf(node: JsonSchema, targetOf: (reference: string) => JsonSchema | boolean | undefined): Edge[] {
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
