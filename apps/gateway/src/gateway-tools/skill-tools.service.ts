import { Injectable } from '@nestjs/common';
import { ProblemError, type ToolAnswer } from '#contracts';
import { SkillArguments, skillNameOf } from '#tools';
import { SkillLibrary } from '../skills/skill-library.service.js';
import { jsonOutput, type ToolCall, type ToolHandler } from './tool-call.js';

@Injectable()
export class SkillTools {
  readonly handlers: Readonly<Record<string, ToolHandler>> = { skill: (call) => this.load(call) };

  constructor(private readonly library: SkillLibrary) {}

  private async load({ principal: { tenantId }, agentId, args: given }: ToolCall): Promise<ToolAnswer> {
    const { skill, args } = SkillArguments.parse(given);
    const reader = { tenantId, agentId };
    const wanted = skillNameOf(skill);
    const found = await this.library.load(reader, wanted).catch((error: unknown) => {
      throw new ProblemError(
        'invalid_request',
        `The skill ${wanted} cannot be read: ${error instanceof Error ? error.message : 'unknown'}`,
      );
    });
    if (found === undefined) {
      const names = await this.library.names(reader);
      throw new ProblemError('resource_not_found', `unknown skill: ${wanted}. Skills: ${names.join(', ') || 'none'}`);
    }
    const { name, description, prompt } = found;
    return jsonOutput({ skill: name, path: `${name}/SKILL.md`, args: args ?? null, description, prompt });
  }
}
