import { Content, parseExactJson, type JsonValue } from '#contracts';
import type { ToolOutputObject } from '#tool-sdk';
import { fieldsOf, isFields } from '../fields.js';
import { kindOfFile } from '../openapi/file-kind.js';
import { usualForm } from './part-forms.js';

const MAX_NOTES = 20;
const MAX_PARTS = 5_000;
/** Lists of parts within each other, as libraries of Python write tuples. */
const MOST_LEVELS = 4;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const KINDS = new Set<string>(Content.options.map(({ shape }) => shape.type.value));

/**
 * The result of a tool as its server wrote it, whatever it looks like: the effect has happened. Parts that no model can
 * read are left out, each with a sentence; without any part the model reads the structured content, or what else there is.
 * `anyStructure`: the revision lets structured content be any value.
 */
export function outputOf(result: unknown, anyStructure: boolean): ToolOutputObject {
  // Field names in Python's spelling.
  const { is_error, structured_content, ...given }: Fields = isFields(result) ? result : { content: result };
  const fields = { ...withoutNulls({ isError: is_error, structuredContent: structured_content }), ...given };
  const isError = isTrue(fields['isError']);
  const { content, notes } = readParts(fields['content']);
  const parts = [...content, ...notes.map(textPart)];
  return {
    content: parts.length > 0 ? parts : instead(fields, isError),
    ...(isError ? { isError } : {}),
    ...structuredOf(fields['structuredContent'], anyStructure),
  };
}

const textPart = (text: string): Content => ({ type: 'text', text });

const isTrue = (value: unknown): boolean => value === true || value === 1 || (typeof value === 'string' && /^true$/i.test(value));

/** Programs that read MCP expect an object: a list is its `items`. */
function structuredOf(given: unknown, anyStructure: boolean): Pick<ToolOutputObject, 'structuredContent'> {
  const value = typeof given === 'string' && !anyStructure ? parsed(given) : given;
  if (value === undefined || (!anyStructure && (typeof value !== 'object' || value === null))) return {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was parsed from JSON; a schema would look at every value
  const json = value as JsonValue;
  return { structuredContent: Array.isArray(json) && !anyStructure ? { items: json } : json };
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** Content for a result without a part: structured content, an error without text, or fields of the server's own. */
function instead({ content, structuredContent, isError: _flag, _meta, resultType: _type, ...own }: Fields, isError: boolean): Content[] {
  if (structuredContent !== undefined && structuredContent !== null) return [textPart(JSON.stringify(structuredContent))];
  // Name of the content in the first revision of the protocol.
  const other = Object.keys(own).join() === 'toolResult' ? own['toolResult'] : own;
  if (Object.keys(own).length > 0) return [textPart(typeof other === 'string' ? other : JSON.stringify(other))];
  if (isError) return [textPart('The MCP server reported an error and did not say which.')];
  return Array.isArray(content) ? [] : [textPart('The MCP server answered without content.')];
}

type Fields = Readonly<Record<string, unknown>>;

function readParts(content: unknown): { readonly content: readonly Content[]; readonly notes: readonly string[] } {
  const isPlain = typeof content === 'number' || typeof content === 'boolean';
  const parts: readonly unknown[] = isPlain ? [String(content)] : [content ?? []].flat(MOST_LEVELS);
  const read: Content[] = [];
  const notes: string[] = [];
  for (const part of parts.slice(0, MAX_PARTS)) {
    const found = readPart(part);
    if (typeof found === 'string') notes.push(`[A part of the answer was left out: ${found}.]`);
    else read.push(found);
  }
  const more = Math.max(0, notes.length - MAX_NOTES) + Math.max(0, parts.length - MAX_PARTS);
  return { content: read, notes: more > 0 ? [...notes.slice(0, MAX_NOTES), `[${more} more parts were left out.]`] : notes };
}

/** The part, else why it is none. */
function readPart(given: unknown): Content | string {
  if (typeof given === 'string') return textPart(given);
  if (!isFields(given)) return `expected an object, received ${JSON.stringify(given)?.slice(0, 60)}`;
  const part = withoutNulls(usualForm(withoutNulls(given), KINDS));
  const { type } = part;
  if (typeof type !== 'string' || type === 'json' || !KINDS.has(type)) return `its type ${JSON.stringify(type)?.slice(0, 60)} is not known`;
  const { annotations, ...rest } = part;
  const candidate = withoutNulls({ ...rest, ...valuesOf(rest, type), type });
  // Annotations that cannot be read are dropped; the part is kept.
  const known = Content.safeParse({ ...candidate, annotations: fieldsOf(annotations) });
  const read = annotations !== undefined && known.success ? known : Content.safeParse(candidate);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const { resource } = rest;
  const odd = isFields(resource) && 'blob' in resource ? 'resource.blob' : issue?.path.join('.');
  return `it is of the type ${JSON.stringify(type)}, without a valid ${odd ?? 'content'}`;
}

/** The values of a part that servers write in other forms. */
function valuesOf(part: Fields, type: string): Fields {
  const { text, data, resource } = part;
  if (type === 'text') return text === undefined ? {} : { text: asText(text) };
  if (type === 'image' || type === 'audio') return mediaOf(type, data, part['mimeType']);
  if (type === 'resource_link') return textsOf(part, ['name', 'title', 'mimeType', 'description'], { size: numberOf(part['size']) });
  if (!isFields(resource)) return {};
  const read = withoutNulls(resource);
  const { blob, text: said } = read;
  const more = { ...(blob === undefined ? {} : { blob: base64Of(blob) }), ...(said === undefined ? {} : { text: asText(said) }) };
  return { resource: withoutNulls(textsOf(read, ['mimeType'], more)) };
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Fields without those of `names` whose values are not texts. */
function textsOf(fields: Fields, names: readonly string[], more: Fields): Fields {
  const odd = names.filter((name) => typeof fields[name] !== 'string');
  return { ...fields, ...Object.fromEntries(odd.map((name) => [name, undefined])), ...more };
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Data URL. The length of its beginning is limited: a text without a comma would be scanned repeatedly. */
const DATA_URL = /^data:([^;,]{0,200})[^,]{0,200};base64,/i;

const HALF_TYPE = /^[\w.+-]+$/;

/** Bytes say what they are where the server does not, or with half a type: a model reads no image without its type. */
function mediaOf(kind: string, data: unknown, mimeType: unknown): Fields {
  const [, named] = typeof data === 'string' ? (DATA_URL.exec(data) ?? []) : [];
  const base64 = base64Of(data);
  const half = typeof mimeType === 'string' && HALF_TYPE.test(mimeType) ? `${kind}/${mimeType.toLowerCase()}` : undefined;
  if ((typeof mimeType === 'string' && half === undefined) || base64 === undefined) return { data: base64 };
  const { type } = kindOfFile(Buffer.from(base64.slice(0, 64), 'base64'), named || undefined);
  return { data: base64, mimeType: type.startsWith(`${kind}/`) ? type : half };
}

/** Standard base64 in one line, from any form of it; undefined for what is none. */
function base64Of(data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined;
  if (BASE64.test(data)) return data;
  const plain = data.replace(DATA_URL, '').replace(/\s+/g, '');
  return /^[\w+/-]*={0,2}$/.test(plain) ? Buffer.from(plain, 'base64').toString('base64') : undefined;
}

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
