import { z } from 'zod';
import { Json } from '#contracts';
import type { ExecuteOptions, ToolyardClient } from '../toolyard-client.js';

/** Declaration of a function for a model. */
export const FunctionDecl = z.object({
  name: z.string(),
  description: z.string().optional(),
  parameters: z.record(z.string(), Json),
});
export type FunctionDecl = z.output<typeof FunctionDecl>;

/** Tool of a loop: its declaration for the model, and its function. */
export interface LoopTool {
  readonly declaration: FunctionDecl;
  /** Resolves with the text for the model. */
  run(jsonText: string, toolCallId?: string): Promise<string>;
}

/**
 * Available tools of a loop, by name; each is created when it is chosen.
 *
 * @example
 * const factories = await ToolFactories.withDefaults(client, { sessionId });
 * const tools = factories.register('date', () => dateTool).resolve(settings.tools);
 */
export class ToolFactories {
  private readonly factories = new Map<string, () => LoopTool>();

  /** Factories for the current tools of the session, which run as its calls. @throws ToolyardError if the catalog cannot be read */
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

  /** Adds or replaces the factory of the name. */
  register(name: string, factory: () => LoopTool): this {
    this.factories.set(name, factory);
    return this;
  }

  /** New tools for the names, in their order. Unknown names are skipped. */
  resolve(names: readonly string[]): LoopTool[] {
    return names.flatMap((name) => this.factories.get(name)?.() ?? []);
  }
}
