import { Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';
import { toErrorSchema, type RJSFSchema, type RJSFValidationError, type ValidatorType } from '@rjsf/utils';
import { z } from 'zod';

/**
 * Validates forms without making code from schemas: the page's Content-Security-Policy forbids that, and the schemas are
 * foreign. The gateway checks again, and its word counts.
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

/** Two names for the same thing: JSON Schema. */
const AnySchema = z.custom<Schema>((value) => typeof value === 'object' && value !== null);

function check(schema: RJSFSchema, data: unknown): OutputUnit[] {
  try {
    return new Validator(AnySchema.parse(schema), '2020-12', false).validate(data ?? {}).errors;
  } catch {
    // A schema that cannot be read (a reference to nowhere) faults nothing here.
    return [];
  }
}

/** Parts of a schema refer to definitions of the whole. */
function withDefinitions(schema: RJSFSchema, root: RJSFSchema): RJSFSchema {
  return { ...(root.$defs ? { $defs: root.$defs } : {}), ...(root.definitions ? { definitions: root.definitions } : {}), ...schema };
}

/** Keywords that only pass on what is wrong further in. */
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
