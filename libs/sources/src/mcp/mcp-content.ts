import { Content, type JsonValue } from '#contracts';
import type { ToolOutputObject } from '#tool-sdk';
import { fieldsOf, isFields } from '../fields.js';

const MAX_NOTES = 20;
const KINDS = new Set<string>(Content.options.map(({ shape }) => shape.type.value));

/**
 * The result of a tool as its server wrote it, whatever it looks like: the effect has happened. Parts that no model can
 * read are left out, each with a sentence; without any part the model reads the structured content, or what else there is.
 * `anyStructure`: the revision lets structured content be any value.
 */
export function outputOf(result: unknown, anyStructure: boolean): ToolOutputObject {
  const fields = isFields(result) ? result : { content: result };
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

const isTrue = (value: unknown): boolean => value === true || value === 1 || value === 'true';

/** Programs that read MCP expect an object: a list is its `items`. */
function structuredOf(value: unknown, anyStructure: boolean): Pick<ToolOutputObject, 'structuredContent'> {
  if (value === undefined || (!anyStructure && (typeof value !== 'object' || value === null))) return {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was parsed from JSON; a schema would look at every value
  const json = value as JsonValue;
  return { structuredContent: Array.isArray(json) && !anyStructure ? { items: json } : json };
}

/** For a result without a part: structured content, an error without words, or fields of the server's own. */
function instead({ content, structuredContent, isError: _flag, _meta, resultType: _type, ...own }: Fields, isError: boolean): Content[] {
  if (structuredContent !== undefined && structuredContent !== null) return [textPart(JSON.stringify(structuredContent))];
  // What the first revision of the protocol called the content.
  const other = Object.keys(own).join() === 'toolResult' ? own['toolResult'] : own;
  if (Object.keys(own).length > 0) return [textPart(typeof other === 'string' ? other : JSON.stringify(other))];
  if (isError) return [textPart('The MCP server reported an error and did not say which.')];
  return Array.isArray(content) ? [] : [textPart('The MCP server answered without content.')];
}

type Fields = Readonly<Record<string, unknown>>;

function readParts(content: unknown): { readonly content: readonly Content[]; readonly notes: readonly string[] } {
  const parts: readonly unknown[] = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content];
  const read: Content[] = [];
  const notes: string[] = [];
  for (const part of parts) {
    const found = readPart(part);
    if (typeof found === 'string') notes.push(`[A part of the answer was left out: ${found}.]`);
    else read.push(found);
  }
  const more = notes.length - MAX_NOTES;
  return { content: read, notes: more > 0 ? [...notes.slice(0, MAX_NOTES), `[${more} more parts were left out.]`] : notes };
}

/** The part, else why it is none. */
function readPart(part: unknown): Content | string {
  if (typeof part === 'string') return textPart(part);
  if (!isFields(part)) return `expected an object, received ${JSON.stringify(part)?.slice(0, 60)}`;
  const type = part['type'] ?? (typeof part['text'] === 'string' ? 'text' : undefined);
  if (typeof type !== 'string' || type === 'json' || !KINDS.has(type)) return `its type ${JSON.stringify(type)?.slice(0, 60)} is not known`;
  const { annotations, ...rest } = withoutNulls(part);
  const candidate = { ...rest, type, ...(isFields(rest['resource']) ? { resource: withoutNulls(rest['resource']) } : {}) };
  // What a server says about a part is not worth the part.
  const known = Content.safeParse({ ...candidate, annotations: fieldsOf(annotations) });
  const read = annotations !== undefined && known.success ? known : Content.safeParse(candidate);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  return `it is of the type ${JSON.stringify(type)}, without a valid ${issue?.path.join('.') ?? 'content'}`;
}

const withoutNulls = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
