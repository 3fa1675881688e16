import { z } from 'zod';
import { AgentArguments, JsonSchema, type AgentSourceDefinition, type StoredSource } from '#contracts';
import { EgressPolicy, egressFetch, type EgressFetch } from '#sandbox';
import type { Listing, OfferedTool, SourceConnection, SourceConnector } from '#sources';
import type { ToolContext, ToolOutput } from '#tool-sdk';
import { AgentLoop, type AgentLoopParts } from './agent-loop.js';
import { AiSdkModel } from './model/ai-sdk.model.js';

export interface AgentConnectorOptions extends AgentLoopParts {
  /** Environment of the worker, with the API keys by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Egress policy; for sub-agents of the config file the host of their model is added. */
  readonly egress: EgressPolicy;
}

/** Connector of sub-agents: sources of one tool each. */
export class AgentConnector implements SourceConnector {
  constructor(private readonly options: AgentConnectorOptions) {}

  async open({ definition, origin }: StoredSource): Promise<SourceConnection> {
    if (definition.kind !== 'agent') throw new Error('expected a source of the kind agent');
    const { egress, env } = this.options;
    const { url } = definition.model;
    // The host is trusted, since the operator wrote it into the config file.
    const policy = origin === 'config' ? new EgressPolicy([...egress.allowHosts, new URL(url).host]) : egress;
    policy.check(url);
    const guarded = egressFetch(policy);
    return new AgentConnection(definition, new AiSdkModel(definition.model, env, guarded), guarded, this.options);
  }
}

/** Connection to a sub-agent's model, by single requests. A run in progress keeps its model if the definition changes. */
class AgentConnection implements SourceConnection {
  private running = 0;
  private closed = false;

  constructor(
    private readonly definition: AgentSourceDefinition,
    private readonly model: AiSdkModel,
    private readonly guarded: EgressFetch,
    private readonly parts: AgentLoopParts,
  ) {}

  async list(): Promise<Listing> {
    const { name, tier, timeoutMs, description = `Delegate a task to the '${name}' sub-agent` } = this.definition;
    const { $schema: _, ...schema } = z.toJSONSchema(AgentArguments, { io: 'input' });
    const input = JsonSchema.parse(schema);
    const tool: OfferedTool = {
      rawName: name,
      label: name,
      description,
      input,
      tier,
      // Keyed, since the journal has the completed work.
      effect: 'keyed',
      pool: 'agent',
      timeoutMs,
      // A lost worker counts as a failure, and a run may be long.
      retry: { maxAttempts: 10, backoffMs: 500, maxBackoffMs: 30_000 },
      subjects: [],
    };
    return { tools: [tool] };
  }

  async call(_rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput> {
    const { task } = AgentArguments.parse(args);
    this.running += 1;
    try {
      return await new AgentLoop(this.definition, task, ctx, this.model, this.parts).toOutput();
    } finally {
      this.running -= 1;
      await this.release();
    }
  }

  onChange(): void {}

  onClosed(): void {}

  async close(): Promise<void> {
    this.closed = true;
    await this.release();
  }

  private async release(): Promise<void> {
    if (this.closed && this.running === 0) await this.guarded.close();
  }
}
