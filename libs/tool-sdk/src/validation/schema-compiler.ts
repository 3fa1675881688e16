import { Ajv, type AnySchema, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonSchema, Violation } from '#contracts';
import { backoffMs } from '#timing';
import { boundedWork, TookTooLong } from './bounded-work.js';
import { linearRegExp } from './linear-regexp.js';
import { describeErrors } from './violations.js';

/** Fills defaults into `value` and returns every violation; none means valid. */
export type Check = (value: unknown) => Violation[];

const options: Options = {
  strict: true,
  // Says which parameters MCP clients mirror in headers, and which arguments are names that the catalog lists.
  keywords: ['x-mcp-header', 'x-choices'],
  // Lint of hand-written schemas; what zod and MCP servers generate is right and trips over them.
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allErrors: true,
  verbose: true,
  useDefaults: true,
  coerceTypes: false,
  // Two sources may use the same `$id`; no schema refers to another's.
  addUsedSchema: false,
  code: { regExp: linearRegExp },
};

const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
const DRAFT_07 = 'http://json-schema.org/draft-07/schema';

const drafts: Record<string, Ajv> = {
  [DRAFT_2020]: addFormats.default(new Ajv2020(options)),
  [DRAFT_07]: addFormats.default(new Ajv(options)),
};

/**
 * For schemas that others wrote: unknown keywords and formats are no faults, and arguments stay as they are, without
 * defaults filled in. Members may be named as what every object inherits, such as `constructor`.
 */
const foreignOptions: Options = { ...options, strict: false, useDefaults: false, ownProperties: true, logger: false };
/** Milliseconds. An honest schema takes some ten, the first one of a process also compiles the drafts themselves. */
const COMPILE_LIMIT_MS = 5_000;
/** Milliseconds. An honest check takes less than one; what a check that never ends piles up by then fits into memory. */
const CHECK_LIMIT_MS = 1_000;
const newForeignDrafts = (): Record<string, Ajv> => ({
  [DRAFT_2020]: addFormats.default(new Ajv2020(foreignOptions)),
  [DRAFT_07]: addFormats.default(new Ajv(foreignOptions)),
});
let foreignDrafts = newForeignDrafts();

/**
 * The one place where schemas become checks, whatever source they come from. `$schema` picks the draft: 2020-12 (also
 * when absent) or draft-07. Throws when the schema is wrong or uses something unknown, with a message that says what.
 */
export function compileSchema(schema: JsonSchema): Check {
  return compile(schema, drafts);
}

/** After a check that was cut off. The time that each takes is a small part of the pause before it. */
const PAUSES = { firstMs: 10_000, maxMs: 3_600_000 };

export interface ForeignCheckOptions {
  /** Milliseconds. */
  readonly now?: () => number;
  /** A check that was cut off accepts the value: of results, whose effect has happened. */
  readonly acceptsCut?: boolean;
}

/**
 * The check of a schema that others wrote. One that cannot be compiled accepts every value: the other side checks its own.
 * One that was cut off because it took too long refuses every value for a pause, which doubles from 10 s to an hour: a
 * machine that is short of CPU cuts off honest ones too. Never throws.
 */
export function compileForeignSchema(schema: JsonSchema, options: ForeignCheckOptions = {}): Check {
  const { now = () => performance.now(), acceptsCut = false } = options;
  let check: Check | undefined;
  let refused: Violation[] = [];
  let [again, cuts] = [0, 0];
  return (value) => {
    if (now() < again) return refused;
    try {
      const ready = (check ??= boundedWork(COMPILE_LIMIT_MS, () => compile(schema, foreignDrafts)));
      const violations = boundedWork(CHECK_LIMIT_MS, () => ready(value));
      cuts = 0;
      return violations;
    } catch (error) {
      const isCut = error instanceof TookTooLong;
      // A compiler that was stopped is of no more use.
      if (isCut && check === undefined) foreignDrafts = newForeignDrafts();
      refused = isCut && !acceptsCut ? [cannotCheck(error)] : [];
      if (isCut) again = now() + backoffMs(++cuts, PAUSES);
      else if (check === undefined) again = Infinity;
      return refused;
    }
  };
}

function cannotCheck(error: unknown): Violation {
  const why = error instanceof Error ? error.message.slice(0, 300) : 'unknown';
  return { pointer: '', message: `the schema of this tool cannot be checked (${why}): tell the operator of its source` };
}

function compile(schema: JsonSchema, drafts: Record<string, Ajv>): Check {
  const named = typeof schema['$schema'] === 'string' ? schema['$schema'] : DRAFT_2020;
  const ajv = drafts[named.replace(/#$/, '')];
  if (!ajv) throw new Error(`"$schema" is ${named}; known are ${DRAFT_2020} and ${DRAFT_07}#`);
  const validate: ValidateFunction = ajv.compile(schema satisfies AnySchema);
  // Forgotten at once, so that a source whose tools come and go does not fill the cache.
  ajv.removeSchema(schema);
  return (value) => (validate(value) ? [] : describeErrors(validate.errors ?? []));
}
