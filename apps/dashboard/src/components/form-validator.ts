import { Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';
import { toErrorSchema, type RJSFSchema, type RJSFValidationError, type ValidatorType } from '@rjsf/utils';
import { z } from 'zod';

/**
 * Validates forms without generating code from schemas: these are untrusted, and the page's Content-Security-Policy forbids it.
 * The gateway validates again.
 */
const formValidator: ValidatorType<unknown> = {
  validateFormData: (data, schema) => {
    const errors = check(schema, data).filter(isOwnFault).map(toFormError);
    return { errors, errorSchema: toErrorSchema(errors) };
  },
  isValid: (schema, data, rootSchema) => check(withDefinitions(schema, rootSchema), data).length === 0,
  rawValidation: () => ({ errors: [] }),
};

export default formValidator;

/** Both types are JSON Schema. */
const AnySchema = z.custom<Schema>((value) => typeof value === 'object' && value !== null);

function check(schema: RJSFSchema, data: unknown): OutputUnit[] {
  try {
    return new Validator(AnySchema.parse(schema), '2020-12', false).validate(data ?? {}).errors;
  } catch {
    // An invalid schema (an unresolved reference) reports no error here.
    return [];
  }
}

/** Subschemas need the definitions of the whole schema. */
function withDefinitions(schema: RJSFSchema, root: RJSFSchema): RJSFSchema {
  return { ...(root.$defs ? { $defs: root.$defs } : {}), ...(root.definitions ? { definitions: root.definitions } : {}), ...schema };
}

/** Keywords that repeat the errors of subschemas. */
function isOwnFault({ keyword }: OutputUnit): boolean {
  return !['properties', 'items', 'prefixItems', 'allOf', '$ref', 'additionalProperties', 'if', 'then', 'else'].includes(keyword);
}

function toFormError({ instanceLocation, keyword, error }: OutputUnit): RJSFValidationError {
  const path = instanceLocation.replace(/^#\/?/, '').split('/').filter(Boolean).map(decodePart);
  const missing = keyword === 'required' ? /"([^"]+)"/.exec(error)?.[1] : undefined;
  const property = [...path, ...(missing === undefined ? [] : [missing])].map((part) => `.${part}`).join('');
  const message = missing === undefined ? error : 'is needed';
  return { name: keyword, property, message, stack: `${property} ${message}` };
}

function decodePart(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
}
