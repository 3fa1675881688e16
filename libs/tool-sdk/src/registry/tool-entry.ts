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

/** Entry for tools of an installation. Throws on a wrong schema, so that the start fails rather than a call. */
export function compiledEntry(tool: ToolDescriptor, source: ToolSource): ToolEntry {
  const entry = shippedEntry(tool, source);
  return { tool, source, shape: entry.shape, check: entry.check, ...(entry.checkOutput ? { checkOutput: entry.checkOutput } : {}) };
}

/**
 * Entry for tools of this repository, whose tests compile all schemas. A process compiles a schema on first use, since
 * compiling all of them would take a sixth of its start.
 */
export function shippedEntry(tool: ToolDescriptor, source: ToolSource): ToolEntry {
  return new LazyEntry(tool, source, compileSchema);
}

/**
 * Entry for tools of other authors, possibly thousands. Schemas are compiled on first use. Arguments of a schema with a compile
 * error are accepted unchecked, since the other side checks them too; never throws.
 */
export function foreignEntry(tool: ToolDescriptor, source: ToolSource): ToolEntry {
  const validateFormats = source.checksFormats !== true;
  const compileInput = (schema: JsonSchema) => compileForeignSchema(schema, { validateFormats });
  const compileOutput = (schema: JsonSchema) => compileForeignSchema(schema, { validateFormats, acceptsCut: true });
  return new LazyEntry(tool, source, compileInput, compileOutput, source.takesExactNumbers === true);
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
