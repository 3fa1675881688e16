import { fieldsOf, listOf, textOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import { isJson, isText, typeOnly } from './media-type.js';

const ANY = 'application/json, text/*;q=0.8, */*;q=0.5';
const TYPE = /^[\w.+-]+\/[\w.+-]+(?:\s*;\s*[\w.-]+=(?:[\w.+-]+|"[^"\\]*"))*$/;
const MAX_TYPES = 5;

/**
 * `Accept` header of a request: the document's value for the header, else the media types of its successful responses before
 * any other, JSON first.
 */
export function acceptOf(operation: Fields, refs: DocumentRefs): string {
  const said = saidOf(operation, refs);
  if (said !== undefined) return said;
  const good = Object.entries(fieldsOf(operation['responses'])).filter(([status]) => /^(?:2..|default)$/i.test(status));
  const types = good.flatMap(([, answer]) => Object.keys(fieldsOf(refs.resolve(answer)['content'])));
  const rank = (type: string) => (isJson(type) ? 0 : isText(type) ? 1 : 2);
  const own = [...new Set(types)].filter((it) => TYPE.test(it)).toSorted((a, b) => rank(typeOnly(a)) - rank(typeOnly(b)));
  if (own.length === 0 || own.some((it) => typeOnly(it) === 'application/json')) return ANY;
  return [...own.slice(0, MAX_TYPES), 'application/json;q=0.9', '*/*;q=0.5'].join(', ');
}

/** OpenAPI ignores `Accept` as a parameter; some documents list its values there. */
function saidOf(operation: Fields, refs: DocumentRefs): string | undefined {
  const parameters = listOf(operation['parameters']).map((it) => refs.resolve(it));
  const accept = parameters.find((it) => it['in'] === 'header' && textOf(it['name'])?.toLowerCase() === 'accept');
  const { default: value, enum: values } = refs.resolve(accept?.['schema']);
  const listed = listOf(values).flatMap((it) => textOf(it) ?? []);
  const best = listed.find((it) => isJson(typeOnly(it))) ?? listed[0];
  return [textOf(value), best].find((it) => it !== undefined && TYPE.test(it));
}
