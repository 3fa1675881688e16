import type { Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { z } from 'zod';
import { Tool, ToolRegistry, ToolsModule, type ToolOptions } from '#tools';

/** A tool of the test's own, as a file in `builtin/` would be one; it takes any arguments and does nothing. */
export function ownTool(options: Partial<ToolOptions> & Pick<ToolOptions, 'name'>): Type {
  @Tool({ description: `For tests: ${options.name}.`, input: z.looseObject({}), ...options })
  class OwnTool {
    run(): string {
      return 'done';
    }
  }
  return OwnTool;
}

/** Those of the names that no built-in tool has. */
export async function namesOfNobody(names: readonly string[]): Promise<string[]> {
  const app = await Test.createTestingModule({ imports: [ToolsModule.forRoot()] }).compile();
  await app.init();
  const registry = app.get(ToolRegistry);
  const free = [...new Set(names)].filter((name) => registry.resolve(name) === undefined);
  await app.close();
  return free;
}
