import { z } from 'zod';
import { Json } from '#contracts';
import type { ExecuteOptions, ToolyardClient } from '../toolyard-client.js';

/** A function as it is declared to a model. */
export const FunctionDecl = z.object({
  name: z.string(),
  description: z.string().optional(),
  parameters: z.record(z.string(), Json),
});
export type FunctionDecl = z.output<typeof FunctionDecl>;

/** A tool of a loop: what its model reads, and how it runs. */
export interface LoopTool {
  readonly declaration: FunctionDecl;
  /** Resolves with the text for the model. */
  run(jsonText: string, toolCallId?: string): Promise<string>;
}

/**
 * The tools that a loop may be given, by name; each is made when it is chosen.
 *
 * @example
 * const factories = await ToolFactories.withDefaults(client, { sessionId });
 * const tools = factories.register('date', () => dateTool).resolve(settings.tools);
 */
export class ToolFactories {
  private readonly factories = new Map<string, () => LoopTool>();

  /** A factory for each tool that the session has now. These tools run as calls of the session. @throws ToolyardError if the catalog cannot be read */
  static async withDefaults(
    client: Pick<ToolyardClient, 'tools' | 'execute'>,
    session: Omit<ExecuteOptions, 'toolCallId'>,
  ): Promise<ToolFactories> {
    const { sessionId, agentId, dialect } = session;
    const tools = await client.tools.forModel('function', { sessionId, agentId, dialect });
    const factories = new ToolFactories();
    for (const tool of tools) {
      const declaration = FunctionDecl.parse(tool);
      const { name } = declaration;
      factories.register(name, () => ({ declaration, run: (text, toolCallId) => client.execute(name, text, { ...session, toolCallId }) }));
    }
    return factories;
  }

  get size(): number {
    return this.factories.size;
  }

  contains(name: string): boolean {
    return this.factories.has(name);
  }

  /** Replaces the factory of the name, if there is one. */
  register(name: string, factory: () => LoopTool): this {
    this.factories.set(name, factory);
    return this;
  }

  /** A new tool for each name, in their order. Unknown names are left out. */
  resolve(names: readonly string[]): LoopTool[] {
    return names.flatMap((name) => this.factories.get(name)?.() ?? []);
  }
}
