import type { JsonSchema } from '#contracts';
import { isFields } from '../fields.js';
import { isSchema } from './keywords.js';

const MAX_ANCHORS = 1_000;
/** Each reference by the name becomes as long as the place of what it names. */
const MAX_POINTER = 1_000;
const VALID = /^[\w\-.~:/?#@!$&'()*+,;=%]*$/;

const ANCHOR = /^[A-Za-z_][\w.-]*$/;
const VALUES = new Set(['const', 'enum', 'default', 'examples']);

/**
 * Names of parts of a schema with their positions, as `$anchor`, or as `$id` and `id` of older drafts. Removes names that a
 * checker would see as duplicates, also below unknown keywords; an `$anchor` with a unique name stays.
 */
export function takeAnchors(root: JsonSchema): ReadonlyMap<string, string> {
  const anchors = new Map<string, string>();
  const anchored = new Map<string, Record<string, unknown>[]>();
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null || anchors.size >= MAX_ANCHORS) return;
    if (isFields(value)) {
      for (const name of [value['$anchor'], value['$dynamicAnchor'], fragmentOf(value['$id']), fragmentOf(value['id'])])
        if (typeof name === 'string' && !anchors.has(name) && pointer.length <= MAX_POINTER) anchors.set(name, pointer);
      const { $anchor } = value;
      if (typeof $anchor === 'string') {
        const holders = anchored.get($anchor) ?? [];
        anchored.set($anchor, holders);
        holders.push(value);
      }
      for (const key of ['$dynamicAnchor', ...(value === root ? [] : ['$id'])])
        if (typeof value[key] === 'string') Reflect.deleteProperty(value, key);
    }
    for (const [key, part] of Object.entries(value)) if (!VALUES.has(key)) visit(part, `${pointer}/${escaped(key)}`);
  };
  visit(root, '');
  for (const [name, holders] of anchored)
    if (holders.length > 1 || !ANCHOR.test(name)) for (const holder of holders) Reflect.deleteProperty(holder, '$anchor');
  return anchors;
}

/** The schema in the same document that a reference names, and the reference in a form that every checker reads. */
export function resolveReference(
  $ref: string,
  root: JsonSchema,
  anchors: ReadonlyMap<string, string>,
): { readonly schema: JsonSchema | boolean; readonly reference: string } | undefined {
  const { $id } = root;
  const own =
    typeof $id === 'string' && $id !== '' && $ref.startsWith($id.replace(/#$/, '')) ? $ref.slice($id.replace(/#$/, '').length) : $ref;
  if (own !== '' && !own.startsWith('#')) return undefined;
  const fragment = decoded(own.slice(1));
  const pointer = fragment === '' || fragment.startsWith('/') ? fragment : anchors.get(fragment);
  if (pointer === undefined) return undefined;
  let value: unknown = root;
  for (const word of pointer.split('/').slice(1)) {
    const key = word.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  if (!isSchema(value)) return undefined;
  const isPlain = own === $ref && pointer === fragment && VALID.test($ref);
  return { schema: value, reference: isPlain ? $ref : `#${encodeURI(pointer).replace(/[#^[\]|`]/g, encodeURIComponent)}` };
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

function fragmentOf(id: unknown): string | undefined {
  return typeof id === 'string' ? /^#([^/].*)$/.exec(id)?.[1] : undefined;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
