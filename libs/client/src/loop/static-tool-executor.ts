/** Part of a `ToolyardClient` that a loop needs to run the tool calls of a model. */
export interface ToolExecutor {
  execute(name: string, jsonText: string, options: { readonly sessionId: string; readonly toolCallId?: string }): Promise<string>;
}

type StaticTool = (jsonText: string) => string | Promise<string>;

/**
 * Functions in place of a gateway, for the tests of a loop.
 *
 * @example `const executor = new StaticToolExecutor().register('date', () => '2030-01-01').register('echo', (json) => json)`
 */
export class StaticToolExecutor implements ToolExecutor {
  private readonly tools = new Map<string, StaticTool>();

  /** @throws Error if the name is registered */
  register(name: string, run: StaticTool): this {
    if (this.tools.has(name)) throw new Error(`expected a new name, got ${name}, which is registered`);
    this.tools.set(name, run);
    return this;
  }

  /** Registered names, sorted. */
  names(): string[] {
    return [...this.tools.keys()].sort();
  }

  /** Resolves with the result of the function, or with the text of its error, like `ToolyardClient.execute`. */
  async execute(name: string, jsonText: string): Promise<string> {
    const run = this.tools.get(name);
    if (run === undefined) return `unknown tool: ${name}; registered are ${this.names().join(', ') || 'none'}`;
    try {
      return await run(jsonText);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
