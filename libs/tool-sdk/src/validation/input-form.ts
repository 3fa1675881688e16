import type { z } from 'zod';
import type { JsonSchema } from '#contracts';
import type { ArgumentHints } from '../tool-source.port.js';
import { argumentShape, type ArgumentShape } from './argument-shape.js';
import { toInputSchema } from './input-schema.js';
import { prepareArguments, type PreparedArguments } from './prepare-arguments.js';
import { compileSchema, type Check } from './schema-compiler.js';

/** Arguments of one shape: their schema for models, and how what a model sends becomes them. */
export class InputForm {
  readonly schema: JsonSchema;
  private readonly shape: ArgumentShape;
  private readonly check: Check;

  /** @throws Error for a schema without an equivalent in JSON Schema */
  constructor(input: z.ZodType, hints: ArgumentHints = {}) {
    this.schema = toInputSchema(input);
    this.shape = argumentShape(this.schema, hints);
    this.check = compileSchema(this.schema);
  }

  /** Never throws. `tolerant`: unknown arguments are left out. */
  prepare(raw: unknown, tolerant = false): PreparedArguments {
    return prepareArguments(raw, this.shape, this.check, tolerant);
  }
}
