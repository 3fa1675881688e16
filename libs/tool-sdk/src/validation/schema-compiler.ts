import { Ajv, str, type AnySchema, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonSchema, Violation } from '#contracts';
import { backoffMs } from '#timing';
import { boundedWork, TookTooLong } from './bounded-work.js';
import { isMultiple } from './is-multiple.js';
import { linearRegExp } from './linear-regexp.js';
import { describeErrors } from './violations.js';

/** Fills defaults into `value` and returns every violation; none means valid. */
export type Check = (value: unknown) => Violation[];

/** Parts of a value, such as its members and items. */
const LARGE = 5_000;

const options: Options = {
  strict: true,
  // Says which parameters MCP clients mirror in headers, and which arguments are names that the catalog lists.
  keywords: ['x-mcp-header', 'x-choices'],
  // Lint of hand-written schemas, off because valid schemas from zod and MCP servers violate it.
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  verbose: true,
  useDefaults: true,
  coerceTypes: false,
  // Two sources may use the same `$id`; no schema refers to another's.
  addUsedSchema: false,
  code: { regExp: linearRegExp },
};

const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
const DRAFT_07 = 'http://json-schema.org/draft-07/schema';

const KINDS = new Map<string, new (options: Options) => Ajv>([
  [DRAFT_2020, Ajv2020],
  [DRAFT_07, Ajv],
]);

/** Compilers by draft, made at their first use. */
class Drafts {
  private readonly made = new Map<string, Ajv>();

  constructor(private readonly options: Options) {}

  compile(schema: JsonSchema, allErrors: boolean): ValidateFunction {
    const named = (typeof schema['$schema'] === 'string' ? schema['$schema'] : DRAFT_2020).replace(/#$/, '');
    const Kind = KINDS.get(named);
    if (!Kind) throw new Error(`"$schema" is ${named}; known are ${DRAFT_2020} and ${DRAFT_07}#`);
    const key = `${named} ${allErrors}`;
    const ajv = this.made.get(key) ?? addFormats.default(withDecimals(new Kind({ ...this.options, allErrors })));
    this.made.set(key, ajv);
    const validate: ValidateFunction = ajv.compile(schema satisfies AnySchema);
    // Forgotten at once, so that a source whose tools come and go does not fill the cache.
    ajv.removeSchema(schema);
    return validate;
  }
}

/** Replaces the keyword of ajv, for which 19.99 is no multiple of 0.01. */
function withDecimals(ajv: Ajv): Ajv {
  return ajv.removeKeyword('multipleOf').addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile: (divisor: number) => (value: number) => isMultiple(value, divisor),
    error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
  });
}

const drafts = new Drafts(options);

/**
 * Options for schemas of other authors: unknown keywords and formats are accepted, and arguments stay unchanged, without
 * defaults. Members may have names that every object inherits, such as `constructor`.
 */
const foreignOptions: Options = { ...options, strict: false, useDefaults: false, ownProperties: true, logger: false };
/** Milliseconds. An honest schema takes some ten, the first one of a process also compiles the drafts themselves. */
const COMPILE_LIMIT_MS = 5_000;
/** Limit in milliseconds. A typical check takes less than one; allocations of an endless check until then fit into memory. */
const CHECK_LIMIT_MS = 1_000;
/** Compilers with and without formats, made at their first use. */
const foreignDrafts = new Map<boolean, Drafts>();

function foreignDraftsOf(validateFormats: boolean): Drafts {
  const found = foreignDrafts.get(validateFormats) ?? new Drafts({ ...foreignOptions, validateFormats });
  foreignDrafts.set(validateFormats, found);
  return found;
}

/**
 * The one place where schemas become checks, whatever source they come from. `$schema` picks the draft: 2020-12 (also
 * when absent) or draft-07. Throws when the schema is wrong or uses something unknown, with a message that says what.
 */
export function compileSchema(schema: JsonSchema): Check {
  const { all, first } = compile(schema, drafts);
  return (value) => (isLarge(value) ? first() : all)(value);
}

/** Pauses after an interrupted check, much longer than the check itself. */
const PAUSES = { firstMs: 10_000, maxMs: 3_600_000 };

export interface ForeignCheckOptions {
  /** Milliseconds. */
  readonly now?: () => number;
  /** A check that was cut off accepts the value: of results, whose effect has happened. */
  readonly acceptsCut?: boolean;
  /** False if the other side decides which texts a format allows. Default: true. */
  readonly validateFormats?: boolean;
}

/**
 * Check of a schema of another author. Accepts every value if the schema cannot be compiled, since the other side checks too.
 * After an interruption for its run time, rejects every value for a pause, which doubles from 10 s to an hour: on a machine
 * short of CPU, valid schemas are interrupted too. Never throws.
 */
export function compileForeignSchema(schema: JsonSchema, options: ForeignCheckOptions = {}): Check {
  const { now = () => performance.now(), acceptsCut = false, validateFormats = true } = options;
  let checks: Checks | undefined;
  let refused: Violation[] = [];
  let [again, cuts] = [0, 0];
  const checkFor = (value: unknown): Check => {
    try {
      const { all, first } = (checks ??= boundedWork(COMPILE_LIMIT_MS, () => compile(schema, foreignDraftsOf(validateFormats))));
      return isLarge(value) ? boundedWork(COMPILE_LIMIT_MS, first) : all;
    } catch (error) {
      // A compiler that was stopped is of no more use.
      if (error instanceof TookTooLong) {
        foreignDrafts.delete(validateFormats);
        checks = undefined;
      }
      throw error;
    }
  };
  return (value) => {
    if (now() < again) return refused;
    try {
      const check = checkFor(value);
      const violations = boundedWork(CHECK_LIMIT_MS, () => check(value));
      cuts = 0;
      return violations;
    } catch (error) {
      const isCut = error instanceof TookTooLong;
      refused = isCut && !acceptsCut ? [cannotCheck(error)] : [];
      if (isCut) again = now() + backoffMs(++cuts, PAUSES);
      else if (checks === undefined) again = Infinity;
      return refused;
    }
  };
}

function cannotCheck(error: unknown): Violation {
  const why = error instanceof Error ? error.message.slice(0, 300) : 'unknown';
  return { pointer: '', message: `the schema of this tool cannot be checked (${why}): tell the operator of its source` };
}

interface Checks {
  /** Names every violation. */
  readonly all: Check;
  /**
   * Compiles, at its first use, a check that names one violation. For large values: ajv stops at the first fault or at none, and a
   * caller may send as many faults as fit into a request.
   */
  readonly first: () => Check;
}

function compile(schema: JsonSchema, by: Drafts): Checks {
  const all = by.compile(schema, true);
  let one: ValidateFunction | undefined;
  const first = (): Check => {
    const validate = (one ??= by.compile(schema, false));
    return (value) => (validate(value) ? [] : [...describeErrors(validate.errors ?? []), FURTHER]);
  };
  return { all: (value) => (all(value) ? [] : describeErrors(all.errors ?? [])), first };
}

const FURTHER: Violation = { pointer: '', message: 'further faults of a value this large are not looked for' };

function isLarge(value: unknown): boolean {
  let left = LARGE;
  const open = [value];
  for (let part = open.pop(); part !== undefined || open.length > 0; part = open.pop()) {
    if (typeof part !== 'object' || part === null) continue;
    // Names first: the values of an object of many members cost more than all else here.
    if ((left -= (Array.isArray(part) ? part : Object.keys(part)).length) < 0) return true;
    const inner: readonly unknown[] = Array.isArray(part) ? part : Object.values(part);
    open.push(...inner);
  }
  return false;
}
