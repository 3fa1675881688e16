import { Injectable } from '@nestjs/common';
import { ProblemError, type Call, type ToolAnswer } from '#contracts';
import { AgentCrewArguments, SwitchToExecutionArguments, type CrewStage } from '#tools';
import { SessionDataStore } from '../sessions/session-data-store.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { AgentTools } from './agent-tools.service.js';
import { crewPrompt } from './crew-prompt.js';
import { jsonOutput, sessionOf, type ToolCall, type ToolHandler } from './tool-call.js';

/** Sub-agents in stages, and the hand-over of a plan to the sub-agent that executes it. */
@Injectable()
export class CrewTools {
  readonly handlers: Readonly<Record<string, ToolHandler>> = {
    agent_crew: (call) => this.crew(call),
    switch_to_execution: (call) => this.execute(call),
  };

  constructor(
    private readonly agents: AgentTools,
    private readonly data: SessionDataStore,
    private readonly redaction: RedactionConfigService,
  ) {}

  /** Submits the stages that may begin, each time that a stage ends. Finds running ones by their idempotency keys. */
  private async crew(call: ToolCall): Promise<ToolAnswer> {
    const { task, stages } = AgentCrewArguments.parse(call.args);
    await this.check(call, stages);
    const done = new Map<string, StageResult>();
    const open = new Set(stages);
    let isWaiting = false;
    for (let moved = true; moved;) {
      const ready = [...open].filter(({ depends_on }) => depends_on.every((name) => done.has(name)));
      moved = ready.length > 0;
      for (const stage of ready) open.delete(stage);
      const results = await Promise.all(
        ready.map((stage) => this.runStage(call, stage, { task, done, part: `stage ${stages.indexOf(stage)}` })),
      );
      for (const [index, stage] of ready.entries()) {
        const result = results[index];
        if (result === undefined) isWaiting = true;
        else done.set(stage.name, result);
      }
    }
    return isWaiting ? { kind: 'wait' } : reportOf(stages, done);
  }

  /** Undefined while the stage runs. */
  private async runStage(
    call: ToolCall,
    { name, role, prompt_template, depends_on }: CrewStage,
    { task, done, part }: { readonly task: string; readonly done: ReadonlyMap<string, StageResult>; readonly part: string },
  ): Promise<StageResult | undefined> {
    const before = depends_on.flatMap((it) => done.get(it) ?? []);
    const failed = before.find(({ isError }) => isError);
    if (failed !== undefined) return { name, isError: true, text: `Left out: the stage ${failed.name} has no result.` };
    const results = before.map((it) => `[Result of ${it.name}]\n${it.text}\n\n`).join('');
    const prompt = crewPrompt(results, prompt_template, task);
    const stage = await this.agents.start(call, { agent: role, task: prompt, part }).catch(refusalOf);
    if (typeof stage === 'string') return { name, isError: true, text: stage };
    if (stage.status !== 'ended') return undefined;
    const text = textOf(stage);
    return stage.outcome === 'completed' && stage.result?.isError === false
      ? { name, isError: false, text, callId: stage.id }
      : { name, isError: true, text: stage.error?.message ?? text, callId: stage.id };
  }

  private async check(call: ToolCall, stages: readonly CrewStage[]): Promise<void> {
    const names = await this.agents.names(call);
    const unknown = [...new Set(stages.map(({ role }) => role))].filter((role) => !names.includes(role));
    if (unknown.length === 0) return;
    const there = `Available agents: ${names.join(', ') || 'none'}`;
    throw new ProblemError('invalid_request', `Agents not available for crew stages: ${unknown.join(', ')}. ${there}`);
  }

  private async execute(call: ToolCall): Promise<ToolAnswer> {
    const { plan, agent } = SwitchToExecutionArguments.parse(call.args);
    const executor = agent === undefined ? undefined : await this.agents.start(call, { agent, task: plan, part: 'plan' });
    if (call.sessionId !== undefined) {
      const execution = {
        plan: this.redaction.of(call.principal.tenantId).text(plan),
        callId: call.callId,
        ...(agent === undefined ? {} : { agent }),
      };
      await this.data.change(sessionOf(call), () => ({ execution }));
    } else if (agent === undefined)
      throw new ProblemError('invalid_request', 'Without a session, agent must name the sub-agent that executes the plan');
    if (executor === undefined) return jsonOutput({ approved: true, plan });
    return { ...jsonOutput({ approved: true, plan, agentId: executor.id }), childCallIds: [executor.id] };
  }
}

interface StageResult {
  readonly name: string;
  readonly isError: boolean;
  readonly text: string;
  /** Absent for a skipped stage. */
  readonly callId?: string;
}

function reportOf(stages: readonly CrewStage[], done: ReadonlyMap<string, StageResult>): ToolAnswer {
  const results = stages.flatMap(({ name }) => done.get(name) ?? []);
  const finished = results.filter(({ isError }) => !isError).length;
  const sections = results.map(({ name, isError, text }) => `## ${name}\n${isError ? `Failed: ${text}` : text}`);
  return {
    kind: 'output',
    isError: finished < results.length,
    content: [{ type: 'text', text: `Pipeline completed: ${finished} stages finished.\n\n${sections.join('\n\n---\n\n')}` }],
    details: { stages: results.map(({ name, isError, callId }) => ({ name, isError, callId: callId ?? null })) },
    childCallIds: results.flatMap(({ callId }) => callId ?? []),
  };
}

/** Reason of a rejected call. Throws errors that a retry may resolve. */
function refusalOf(error: unknown): string {
  if (error instanceof ProblemError && error.code !== 'overloaded') return error.detail;
  throw error;
}

function textOf({ result }: Call): string {
  return (result?.content ?? []).map((item) => (item.type === 'text' ? item.text : '')).join('');
}
