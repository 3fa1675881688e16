import type { JsonSchema, ToolDescriptor } from '#contracts';
import type { ToolSource } from '../tool-source.port.js';
import { argumentShape, type ArgumentShape } from '../validation/argument-shape.js';
import { replaceNumberTexts } from '../validation/exact-number.js';
import { compileForeignSchema, compileSchema, type Check } from '../validation/schema-compiler.js';

/** A tool with all that is needed to check its arguments and results. */
export interface ToolEntry {
  readonly tool: ToolDescriptor;
  readonly source: ToolSource;
  readonly shape: ArgumentShape;
  readonly check: Check;
  readonly checkOutput?: Check;
}

/** For tools of an installation: throws when a schema is wrong, so that the start fails and not a call. */
export function compiledEntry(tool: ToolDescriptor, source: ToolSource): ToolEntry {
  const entry = shippedEntry(tool, source);
  return { tool, source, shape: entry.shape, check: entry.check, ...(entry.checkOutput ? { checkOutput: entry.checkOutput } : {}) };
}

/**
 * For tools of this repository, whose tests compile all schemas: a process compiles those that it uses, at their first use.
 * All of them would take a sixth of its start.
 */
export function shippedEntry(tool: ToolDescriptor, source: ToolSource): ToolEntry {
  return new LazyEntry(tool, source, compileSchema);
}

/**
 * For tools that others wrote, of which there may be thousands: schemas are compiled at their first use. A schema that
 * cannot be compiled accepts all arguments, which the other side checks too; it never throws.
 */
export function foreignEntry(tool: ToolDescriptor, source: ToolSource): ToolEntry {
  const compileOutput = (schema: JsonSchema) => compileForeignSchema(schema, { acceptsCut: true });
  return new LazyEntry(tool, source, compileForeignSchema, compileOutput, source.takesExactNumbers === true);
}

class LazyEntry implements ToolEntry {
  private inputCheck: Check | undefined;
  private outputCheck: Check | undefined;
  private argumentsShape: ArgumentShape | undefined;

  constructor(
    readonly tool: ToolDescriptor,
    readonly source: ToolSource,
    private readonly compile: (schema: JsonSchema) => Check,
    private readonly compileOutput: (schema: JsonSchema) => Check = compile,
    private readonly exactNumbers = false,
  ) {}

  get shape(): ArgumentShape {
    return (this.argumentsShape ??= argumentShape(this.tool.input, this.source.argumentHints?.(this.tool.name)));
  }

  get check(): Check {
    return (this.inputCheck ??= this.exactNumbers ? this.numbersOf(this.tool.input, this.compile) : this.compile(this.tool.input));
  }

  get checkOutput(): Check | undefined {
    return this.tool.output && (this.outputCheck ??= this.numbersOf(this.tool.output, this.compileOutput));
  }

  /** A text of digits counts as the number that the schema asks for, as in every result that was read exactly. */
  private numbersOf(schema: JsonSchema, compile: (schema: JsonSchema) => Check): Check {
    const check = compile(schema);
    return (value) => check(replaceNumberTexts(value, schema, Number));
  }
}
