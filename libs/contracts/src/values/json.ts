import { z } from 'zod';

export type JsonValue = z.output<ReturnType<typeof z.json>>;

const recursive = z.json();

/**
 * Any JSON value. Validated in depth, but documented as an open value: most client generators cannot turn a recursive schema
 * into a usable type.
 */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the check makes it so
export const Json = z
  .unknown()
  .refine((value) => recursive.safeParse(value).success, 'expected a JSON value')
  .meta({ id: 'JsonValue', description: 'Any JSON value.' }) as unknown as z.ZodType<JsonValue, JsonValue>;
