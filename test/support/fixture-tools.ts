import type { Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { z } from 'zod';
import { Tool, type ToolOptions, ToolRegistry } from '#tool-sdk';
import { ToolsModule } from '#tools';

/** A tool for a test, defined like a built-in one; it takes any arguments and does nothing. */
export function fixtureTool(options: Partial<ToolOptions> & Pick<ToolOptions, 'name'>): Type {
  @Tool({ description: `For tests: ${options.name}.`, input: z.looseObject({}), ...options })
  class OwnTool {
    run(): string {
      return 'done';
    }
  }
  return OwnTool;
}

/** The registry of an app with these tools and the built-in ones. */
export async function registryWith(tools: readonly Type[] = []): Promise<ToolRegistry> {
  const app = await Test.createTestingModule({ imports: [ToolsModule.forRoot({ tools })] }).compile();
  await app.init();
  return app.get(ToolRegistry);
}

/** The names that no built-in tool has. */
export async function unknownToolNames(names: readonly string[]): Promise<string[]> {
  const registry = await registryWith();
  return [...new Set(names)].filter((name) => registry.resolve(name) === undefined);
}
