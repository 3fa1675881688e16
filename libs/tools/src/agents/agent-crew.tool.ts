import { z } from 'zod';
import { Tool, ToolError } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';

const StageName = z.string().min(1).max(64);
const CrewStage = z.strictObject({
  name: StageName.describe('Names the stage; each stage has another name.'),
  role: z.string().min(1).max(64).meta({ 'x-choices': 'agents' }).describe('The sub-agent that does it.'),
  prompt_template: z.string().min(1).max(50_000).describe('What the sub-agent is asked; {task} stands for the task.'),
  depends_on: z
    .array(StageName)
    .max(20)
    .default([])
    .describe('Stages that end before it begins; it reads their results. None: it begins at once.'),
});
export type CrewStage = z.output<typeof CrewStage>;

export const AgentCrewArguments = z.strictObject({
  task: z.string().min(1).max(100_000).describe('The task of the whole crew.'),
  stages: z.array(CrewStage).min(1).max(20).describe('Its parts. Stages that do not depend on each other run at the same time.'),
});

/**
 * Runs several sub-agents in the order of their dependencies. Each has a call of its own, evaluated as if the caller made it.
 * Handled by apps/gateway/src/gateway-tools/crew-tools.service.ts.
 */
@Tool({
  name: 'agent_crew',
  label: 'Call several sub-agents',
  description:
    'Gives a task to several sub-agents in stages. A stage begins when all that it depends on have ended, and reads their results; others run at the same time. Answers the last texts of all stages. A stage whose sub-agent fails says so, and those that depend on it are left out. Sub-agents do not have it.',
  input: AgentCrewArguments,
  tier: 'side_effecting',
  effect: 'keyed',
  callers: 'main',
  subjects: [{ kind: 'agent', argument: 'stages', field: 'role' }],
  timeoutMs: 30_000,
  examples: [
    {
      title: 'Two in turn',
      arguments: {
        task: 'Add a flag --quiet',
        stages: [
          { name: 'plan', role: 'planner', prompt_template: 'Plan: {task}' },
          { name: 'build', role: 'builder', prompt_template: 'Do: {task}', depends_on: ['plan'] },
        ],
      },
    },
  ],
})
export class AgentCrewTool extends GatewayTool {
  check({ stages }: z.output<typeof AgentCrewArguments>): void {
    const fault = crewFault(stages);
    if (fault !== undefined) throw new ToolError('invalid_arguments', fault);
  }
}

/** Fields of a stage that determine its order. */
interface OrderedStage {
  readonly name: string;
  readonly depends_on: readonly string[];
}

/** Reason why the stages have no order: a duplicate name, an unknown dependency, a cycle. Undefined if they have one. Pure. */
function crewFault(stages: readonly OrderedStage[]): string | undefined {
  const names = stages.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `Two stages are called '${twice}': give each another name`;
  for (const { name, depends_on } of stages) {
    const unknown = depends_on.find((it) => !names.includes(it));
    if (unknown !== undefined) return `Stage '${name}' depends on unknown stage '${unknown}'. Stages: ${names.join(', ')}`;
  }
  const done = new Set<string>();
  for (;;) {
    const ready = stages.filter(({ name, depends_on }) => !done.has(name) && depends_on.every((it) => done.has(it)));
    if (ready.length === 0) break;
    for (const { name } of ready) done.add(name);
  }
  const left = names.filter((name) => !done.has(name));
  return left.length === 0 ? undefined : `These stages wait for each other: ${left.join(', ')}`;
}
