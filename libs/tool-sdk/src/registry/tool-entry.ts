import type { ToolDescriptor } from '#contracts';
import type { ToolSource } from '../tool-source.port.js';
import { argumentShape, type ArgumentShape } from '../validation/argument-shape.js';
import { compileForeignSchema, compileSchema, type Check } from '../validation/schema-compiler.js';

/** A tool with all that is needed to check its arguments and results. */
export interface ToolEntry {
  readonly tool: ToolDescriptor;
  readonly source: ToolSource;
  readonly shape: ArgumentShape;
  readonly check: Check;
  readonly checkOutput?: Check;
}

/** For tools of this repository. Throws when a schema is wrong. */
export function compiledEntry(tool: ToolDescriptor, source: ToolSource): ToolEntry {
  return {
    tool,
    source,
    shape: argumentShape(tool.input, source.argumentHints?.(tool.name)),
    check: compileSchema(tool.input),
    ...(tool.output ? { checkOutput: compileSchema(tool.output) } : {}),
  };
}

/**
 * For tools that others wrote, of which there may be thousands: schemas are compiled at their first use. A schema that
 * cannot be compiled refuses all arguments, and says why; it never throws.
 */
export class ForeignEntry implements ToolEntry {
  private inputCheck: Check | undefined;
  private outputCheck: Check | undefined;
  private argumentsShape: ArgumentShape | undefined;

  constructor(
    readonly tool: ToolDescriptor,
    readonly source: ToolSource,
  ) {}

  get shape(): ArgumentShape {
    return (this.argumentsShape ??= argumentShape(this.tool.input));
  }

  get check(): Check {
    return (this.inputCheck ??= compileForeignSchema(this.tool.input));
  }

  get checkOutput(): Check | undefined {
    return this.tool.output && (this.outputCheck ??= compileForeignSchema(this.tool.output));
  }
}
