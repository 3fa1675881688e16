import { z } from 'zod';
import { AgentArguments, JsonSchema, type AgentSourceDefinition, type StoredSource } from '#contracts';
import type { OfferedTool, SourceConnection, SourceConnector } from '#sources';
import type { ToolContext, ToolOutput } from '#tool-sdk';
import { AgentLoop, type AgentLoopParts } from './agent-loop.js';
import { AiSdkModel } from './model/ai-sdk.model.js';

export interface AgentConnectorOptions extends AgentLoopParts {
  /** Of the worker: API keys are taken from it by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Sub-agents: sources of one tool each. */
export class AgentConnector implements SourceConnector {
  constructor(private readonly options: AgentConnectorOptions) {}

  async open({ definition }: StoredSource): Promise<SourceConnection> {
    if (definition.kind !== 'agent') throw new Error('expected a source of the kind agent');
    return new AgentConnection(definition, new AiSdkModel(definition.model, this.options.env), this.options);
  }
}

/** It holds no connection: models are asked by single requests. */
class AgentConnection implements SourceConnection {
  constructor(
    private readonly definition: AgentSourceDefinition,
    private readonly model: AiSdkModel,
    private readonly parts: AgentLoopParts,
  ) {}

  async list(): Promise<readonly OfferedTool[]> {
    const { name, tier, timeoutMs, description = `Delegate a task to the '${name}' sub-agent` } = this.definition;
    const { $schema: _, ...schema } = z.toJSONSchema(AgentArguments, { io: 'input' });
    const input = JsonSchema.parse(schema);
    return [
      {
        rawName: name,
        label: name,
        description,
        input,
        tier,
        // Its journal knows what it has done.
        effect: 'keyed',
        pool: 'agent',
        timeoutMs,
        // A lost worker counts as a failure, and a run may be long.
        retry: { maxAttempts: 10, backoffMs: 500, maxBackoffMs: 30_000 },
        subjects: [],
      },
    ];
  }

  call(_rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    const { task } = AgentArguments.parse(args);
    return new AgentLoop(this.definition, task, ctx, this.model, this.parts).toOutput();
  }

  onChange(): void {}

  onClosed(): void {}

  async close(): Promise<void> {}
}
