import type { specTypeSchemas } from '@modelcontextprotocol/client';
import { isFields, type Fields } from '../../fields.js';

type Schema = (typeof specTypeSchemas)[keyof typeof specTypeSchemas];

/** True if the client accepts the value. */
export function isValid(schema: Pick<Schema, '~standard'>, value: unknown): boolean {
  const read = schema['~standard'].validate(value);
  return !(read instanceof Promise) && read.issues === undefined;
}

/** Many servers write null for what is absent. */
export const withoutNulls = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** A result with what revision 2026-07-28 asks of it: its kind and its age. Older ones skip both. */
export function withCacheFacts({ resultType: _kind, ttlMs, cacheScope, _meta, ...rest }: Fields): Fields {
  const isAge = Number.isSafeInteger(ttlMs) && Number(ttlMs) >= 0;
  return {
    ...rest,
    resultType: 'complete',
    ttlMs: isAge ? ttlMs : 0,
    cacheScope: cacheScope === 'public' ? cacheScope : 'private',
    ...(isFields(_meta) ? { _meta } : {}),
  };
}

/** PHP writes an empty object as an empty list. */
export const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
