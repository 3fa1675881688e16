import { z } from 'zod';
import { JsonSchema } from '#contracts';

/** Features of zod without an equivalent in JSON Schema, with the alternative. zod silently drops most of them. */
const LOST_TYPES: Readonly<Record<string, string>> = {
  transform: 'a transform is left out of the JSON Schema: convert inside run',
  pipe: 'pipe, preprocess and codec are left out of the JSON Schema: convert inside run',
  date: 'JSON has no dates: use z.iso.datetime() or z.iso.date()',
  bigint: 'JSON has no bigint: use z.number().int(), or a string with a pattern',
  map: 'JSON has no maps: use z.record()',
  set: 'JSON has no sets: use z.array()',
  symbol: 'JSON has no symbols',
  undefined: 'JSON has no undefined: use .optional()',
  void: 'JSON has no void: use .optional()',
  nan: 'JSON has no NaN',
  function: 'JSON has no functions',
  promise: 'JSON has no promises',
  file: 'JSON has no files: use a path or base64 text',
  custom: 'z.custom and z.instanceof are left out of the JSON Schema: use a plain type and check inside run',
  catch: 'catch hides wrong arguments from the model: use .default() or .optional()',
  success: 'z.success is left out of the JSON Schema',
};

/** JSON Schema 2020-12 of what a caller may send. Throws one message that lists every part that JSON Schema would lose. */
export function toInputSchema(schema: z.ZodType): JsonSchema {
  // Plugins in JavaScript may send anything, and schemas of another copy of zod.
  const given: unknown = schema;
  if (typeof given !== 'object' || given === null || !('_zod' in given))
    throw new Error('`input` is no schema of zod: use z.strictObject({...})');
  const lost: string[] = [];
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, path }) => {
      for (const reason of lostBy(zodSchema)) lost.push(`${pointerOf(path)}: ${reason}`);
    },
  });
  if (lost.length > 0) throw new Error([...new Set(lost)].join('; '));
  return JsonSchema.parse(json);
}

function lostBy(schema: z.core.$ZodTypes): string[] {
  const { def } = schema._zod;
  const reasons: string[] = [];
  const lostType = LOST_TYPES[def.type];
  if (lostType) reasons.push(lostType);
  if ('coerce' in def && def.coerce) reasons.push('arguments are never coerced: drop z.coerce');
  if (def.type === 'object' && def.catchall === undefined) reasons.push('z.object drops unknown keys without a word: use z.strictObject');
  for (const check of def.checks ?? []) reasons.push(...lostByCheck(check));
  return reasons;
}

function lostByCheck(check: z.core.$ZodCheck): string[] {
  const { def } = check._zod;
  if (def.check === 'custom')
    return ['refine, superRefine and check are left out of the JSON Schema: check inside run and throw a ToolError'];
  if (def.check === 'overwrite') return ['trim, toLowerCase and the like are left out of the JSON Schema: convert inside run'];
  // oxlint-disable-next-line no-restricted-globals -- nothing is made, a kind is asked for
  if ('pattern' in def && def.pattern instanceof RegExp && /[ims]/.test(def.pattern.flags)) {
    return [`the flags of ${String(def.pattern)} are left out of the JSON Schema: write the pattern without flags`];
  }
  return [];
}

function pointerOf(path: readonly (string | number)[]): string {
  return path.length === 0 ? 'the whole' : `/${path.filter((part) => part !== 'properties').join('/')}`;
}
