import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Tool, toolOptionsOf, type StructuredOutput } from './tool.decorator.js';
import type { ToolContext } from './tool-context.port.js';
import type { ToolOutput } from './tool-output.js';

const input = z.strictObject({ path: z.string(), limit: z.number().int().default(5) });
const options = { name: 'sample', description: 'A sample.', input } as const;

@Tool(options)
class FitsTool {
  run(args: z.output<typeof input>, _ctx: ToolContext): ToolOutput {
    return `${args.path} ${args.limit.toFixed()}`;
  }
}

@Tool({ ...options, output: z.object({ lines: z.number() }) })
class StructuredTool {
  async run(args: { path: string }): Promise<StructuredOutput<{ lines: number }>> {
    return { content: [{ type: 'text', text: args.path }], structuredContent: { lines: 1 } };
  }
}

// @ts-expect-error -- `path` is a string in the schema, so a run that wants a number does not fit
@Tool(options)
class WrongArgumentTool {
  run(args: { path: number }): string {
    return args.path.toFixed();
  }
}

// @ts-expect-error -- a run must return content, a suspension or a promise of them
@Tool(options)
class WrongResultTool {
  run(): number {
    return 1;
  }
}

// @ts-expect-error -- a tool with an output schema must return structuredContent of that form
@Tool({ ...options, output: z.object({ lines: z.number() }) })
class WrongStructureTool {
  run(): ToolOutput {
    return 'no structure';
  }
}

// @ts-expect-error -- a decorated class must have a run
@Tool(options)
class NoRunTool {}

const wrongOptions = [
  // @ts-expect-error -- aliases are for arguments that exist
  Tool({ ...options, argumentAliases: { nope: ['x'] } }),
  // @ts-expect-error -- examples must fit the schema
  Tool({ ...options, examples: [{ title: 'wrong', arguments: { path: 1 } }] }),
  // @ts-expect-error -- a raw argument must exist
  Tool({ ...options, rawArgument: 'nope' }),
];

describe('Tool decorator', () => {
  it('reads the facts of a class from its Tool decorator', () => {
    expect(toolOptionsOf(FitsTool)).toMatchObject({ name: 'sample', description: 'A sample.' });
    expect(toolOptionsOf(StructuredTool)?.output).toBeDefined();
    expect(toolOptionsOf(class Plain {})).toBeUndefined();
  });

  it('checks the Tool decorator by the compiler: each marked line above must be an error, or this file does not compile', () => {
    expect([WrongArgumentTool, WrongResultTool, WrongStructureTool, NoRunTool, ...wrongOptions]).toHaveLength(7);
  });
});
