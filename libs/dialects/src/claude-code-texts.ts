import type { JsonValue } from '#contracts';
import type { CanonicalResult, Refusal, RenderedObject } from './dialect.js';
import { detailOf, reasonOf } from './texts.js';

export function refusalText(refusal: Refusal): string {
  return refusal.code === 'invalid_arguments' ? detailOf(refusal) : reasonOf(refusal);
}

/** The canonical answer, which is JSON. */
export function jsonText({ content, isError }: CanonicalResult): RenderedObject {
  return { isError, content: content.map((item) => (item.type === 'json' ? { type: 'text', text: json(item.json) } : item)) };
}

export function json(value: JsonValue): string {
  return JSON.stringify(value);
}
