import { z } from 'zod';
import { ConfigFile } from '#contracts';
import { closestNames } from '#tool-sdk';

/** Message for an unknown field of the config file, with the most similar known one. `holder`: path of the object around it. */
export function unknownField(holder: readonly PropertyKey[], name: string): string {
  const [near] = closestNames(name, fieldsAt(holder), 1);
  return `Unrecognized key: "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`;
}

type Node = Readonly<Record<string, unknown>>;

/** Known fields of an object in the config file. */
function fieldsAt(path: readonly PropertyKey[]): string[] {
  const root: Node = z.toJSONSchema(ConfigFile, { io: 'input' });
  let nodes = formsOf(root, root);
  for (const part of path) nodes = nodes.flatMap((node) => formsOf(childOf(node, String(part)), root));
  return nodes.flatMap(({ properties }) => (isNode(properties) ? Object.keys(properties) : []));
}

function childOf({ properties, additionalProperties, items }: Node, part: string): unknown {
  return isNode(properties) && Object.hasOwn(properties, part) ? properties[part] : (additionalProperties ?? items);
}

/** The schema itself and the schemas that it refers to. */
function formsOf(node: unknown, root: Node): Node[] {
  if (!isNode(node)) return [];
  const { $ref, anyOf, oneOf, allOf } = node;
  const name = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : undefined;
  const definitions = root['$defs'];
  const referred = name !== undefined && isNode(definitions) ? [definitions[name]] : [];
  const parts = [...referred, ...[anyOf, oneOf, allOf].flatMap((it): unknown[] => (Array.isArray(it) ? it : []))];
  return [node, ...parts.flatMap((part) => formsOf(part, root))];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
