import type { ErrorObject } from 'ajv';
import { isExactNumberText, type Violation } from '#contracts';
import { closestNames } from './suggest.js';

const SHOWN_CHARACTERS = 60;
/** Most errors of one ajv run: a request may contain very many faults, and unions iterate over all of them. */
const MOST_ERRORS = 500;
/** Faults for which names are suggested: comparing a name with all known ones costs a hundred times as much as the rest. */
const MOST_SUGGESTIONS = 20;

/** A value as a violation names it: its type, and its text up to 60 characters. Half of a longer one might be half of a secret. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value);
  return `${typeof value} ${text.length > SHOWN_CHARACTERS ? `of ${text.length} characters` : text}`;
}

/** Violations of one ajv run: place, expected and actual value. Long lists are truncated. */
export function describeErrors(errors: readonly ErrorObject[]): Violation[] {
  const described = withoutBranches(errors.slice(0, MOST_ERRORS)).map((error, index) => describeError(error, index < MOST_SUGGESTIONS));
  const left = errors.length - MOST_ERRORS;
  return left > 0 ? [...described, { pointer: '', message: `${left} more faults, which are not listed` }] : described;
}

function describeError(error: ErrorObject, suggests: boolean): Violation {
  const got = `got ${describeValue(error.data)}`;
  switch (error.keyword) {
    case 'required': {
      const name = String(error.params['missingProperty']);
      return {
        pointer: `${error.instancePath}/${escapePointer(name)}`,
        message: `missing '${name}' parameter: expected ${expectedOf(error, name)}`,
      };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownProperty(error, suggests);
    case 'enum':
    case 'const':
      return { pointer: error.instancePath, message: `expected ${allowedValues(error)}, ${got}` };
    case 'type':
      return { pointer: error.instancePath, message: `expected ${typeNames(error.params['type'])}, ${got}${tooManyDigits(error)}` };
    case 'pattern':
      return { pointer: error.instancePath, message: `expected a match of the pattern ${String(error.params['pattern'])}, ${got}` };
    case 'format':
      return { pointer: error.instancePath, message: `expected the format ${String(error.params['format'])}, ${got}` };
    case 'anyOf':
    case 'oneOf':
      return { pointer: error.instancePath, message: `matches none (or, where one is asked for, several) of the allowed forms, ${got}` };
    default:
      // Messages of ajv for numbers, such as "must be >= 1", lack only the value.
      return { pointer: error.instancePath, message: `${sizeText(error) ?? error.message ?? error.keyword}, ${got}` };
  }
}

function tooManyDigits({ data, params }: ErrorObject): string {
  const wantsNumber = [params['type']].flat().some((type) => type === 'integer' || type === 'number');
  return wantsNumber && isExactNumberText(data) ? `: integers beyond ${Number.MAX_SAFE_INTEGER} and more than 15 digits are not taken` : '';
}

const COUNTED: Readonly<Record<string, string>> = { Length: 'character', Items: 'item', Properties: 'member' };

/** Text for `minLength`, `maxItems` and similar keywords, in place of ajv's "must NOT have fewer than 1 characters". */
function sizeText({ keyword, params }: ErrorObject): string | undefined {
  const counted = COUNTED[keyword.slice(3)];
  const limit = Number(params['limit']);
  if (counted === undefined || Number.isNaN(limit)) return undefined;
  if (keyword.startsWith('min') && limit === 1) return 'must not be empty';
  return `must have at ${keyword.startsWith('min') ? 'least' : 'most'} ${limit} ${counted}${limit === 1 ? '' : 's'}`;
}

/**
 * A failed union reports every branch. Only one matters to the reader: the branch that the discriminating constant chose
 * (its errors stay), or none (only the union's own error stays).
 */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  for (const union of errors.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf')) {
    const branches = branchesOf(union, errors);
    const chosen = branches.filter((branch) => !branch.some((error) => rejectsBranch(error, union)));
    const kept = chosen.length === 1 ? chosen[0] : undefined;
    for (const branch of branches) if (branch !== kept) branch.forEach((error) => dropped.add(error));
    if (kept) dropped.add(union);
  }
  return errors.filter((error) => !dropped.has(error));
}

function branchesOf(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[][] {
  const branches = new Map<string, ErrorObject[]>();
  for (const error of errors) {
    if (!error.schemaPath.startsWith(`${union.schemaPath}/`) || !error.instancePath.startsWith(union.instancePath)) continue;
    const index = error.schemaPath
      .slice(union.schemaPath.length + 1)
      .split('/', 1)
      .join();
    const branch = branches.get(index);
    if (branch) branch.push(error);
    else branches.set(index, [error]);
  }
  return [...branches.values()];
}

function rejectsBranch(error: ErrorObject, union: ErrorObject): boolean {
  if (error.keyword === 'type') return error.instancePath === union.instancePath;
  return error.keyword === 'const' || error.keyword === 'enum';
}

function unknownProperty(error: ErrorObject, suggests: boolean): Violation {
  const name = String(error.params['additionalProperty'] ?? error.params['unevaluatedProperty']);
  const known = suggests ? Object.keys(propertiesOf(error)) : [];
  const near = closestNames(name, known, 1);
  const hint = near.length > 0 ? `; did you mean '${near.join()}'?` : known.length > 0 ? `; known: ${known.join(', ')}` : '';
  return { pointer: `${error.instancePath}/${escapePointer(name)}`, message: `unknown parameter '${name}'${hint}` };
}

function propertiesOf(error: ErrorObject): object {
  const properties: unknown = error.parentSchema?.['properties'];
  return typeof properties === 'object' && properties !== null ? properties : {};
}

function expectedOf(error: ErrorObject, name: string): string {
  const schema: unknown = new Map<string, unknown>(Object.entries(propertiesOf(error))).get(name);
  if (typeof schema !== 'object' || schema === null) return 'a value';
  if ('enum' in schema && Array.isArray(schema.enum)) return oneOf(schema.enum);
  return 'type' in schema ? typeNames(schema.type) : 'a value';
}

function allowedValues(error: ErrorObject): string {
  const values: unknown = error.params['allowedValues'];
  return Array.isArray(values) ? oneOf(values) : JSON.stringify(error.params['allowedValue']);
}

function oneOf(values: readonly unknown[]): string {
  return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
}

function typeNames(type: unknown): string {
  return Array.isArray(type) ? type.join(' or ') : String(type);
}

export function escapePointer(name: string): string {
  return /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name;
}
