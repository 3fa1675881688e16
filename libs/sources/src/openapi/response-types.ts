import { fieldsOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import { isJson, isText, typeOnly } from './media-type.js';

const ANY = 'application/json, text/*;q=0.8, */*;q=0.5';
const TYPE = /^[\w.+-]+\/[\w.+-]+(?:\s*;\s*[\w.-]+=(?:[\w.+-]+|"[^"\\]*"))*$/;
const MAX_TYPES = 5;

/** What a request accepts: the media types that the document gives to good answers before any other, JSON first. */
export function acceptOf(operation: Fields, refs: DocumentRefs): string {
  const good = Object.entries(fieldsOf(operation['responses'])).filter(([status]) => /^(?:2..|default)$/i.test(status));
  const types = good.flatMap(([, answer]) => Object.keys(fieldsOf(refs.resolve(answer)['content'])));
  const rank = (type: string) => (isJson(type) ? 0 : isText(type) ? 1 : 2);
  const own = [...new Set(types)].filter((it) => TYPE.test(it)).toSorted((a, b) => rank(typeOnly(a)) - rank(typeOnly(b)));
  if (own.length === 0 || own.some((it) => typeOnly(it) === 'application/json')) return ANY;
  return [...own.slice(0, MAX_TYPES), 'application/json;q=0.9', '*/*;q=0.5'].join(', ');
}
