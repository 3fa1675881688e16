import type { specTypeSchemas } from '@modelcontextprotocol/client';
import type { Fields } from '../../fields.js';

type Schema = (typeof specTypeSchemas)[keyof typeof specTypeSchemas];

/** Whether the client takes the value. */
export function isValid(schema: Pick<Schema, '~standard'>, value: unknown): boolean {
  const read = schema['~standard'].validate(value);
  return !(read instanceof Promise) && read.issues === undefined;
}

/** Many servers write null for what is absent. */
export const withoutNulls = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** PHP writes an empty object as an empty list. */
export const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
