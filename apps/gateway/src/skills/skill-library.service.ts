import { Inject, Injectable } from '@nestjs/common';
import { ALL_TENANTS, type SkillRoot } from '#contracts';
import { globMatches } from '#patterns';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { readSkill, skillsIn, type Skill, type SkillText } from './read-skill.js';

/** Caller that reads skills. */
export interface SkillReader {
  readonly tenantId: string;
  readonly agentId: string | undefined;
}

/** Skills of the configured folders. Read at each use, so that a changed file counts at once. */
@Injectable()
export class SkillLibrary {
  private roots: readonly SkillRoot[];

  constructor(@Inject(GATEWAY_CONFIG) { skills = [] }: Pick<GatewayConfig, 'skills'>) {
    this.roots = skills;
  }

  /** Calling the returned function activates the roots; it never throws. */
  prepare({ skills = [] }: Pick<GatewayConfig, 'skills'>): () => void {
    return () => {
      this.roots = skills;
    };
  }

  /** Names of the skills, sorted. Skips folders without a usable `SKILL.md`. */
  async names(reader: SkillReader): Promise<string[]> {
    const found = await this.found(reader);
    const readable = await Promise.all(found.map(async (skill) => (await isReadable(skill)) && skill.name));
    return readable.filter((name) => name !== false);
  }

  /** Skill by its name, ignoring case; undefined if the reader does not have it. @throws Error with the fault of the file */
  async load(reader: SkillReader, name: string): Promise<({ readonly name: string } & SkillText) | undefined> {
    const skill = (await this.found(reader)).find((it) => it.name.toLowerCase() === name.toLowerCase());
    const text = skill && (await readSkill(skill));
    return skill === undefined || text === undefined ? undefined : { name: skill.name, ...text };
  }

  /** Skills of the reader, unique by name: the first root wins. */
  private async found({ tenantId, agentId }: SkillReader): Promise<Skill[]> {
    const own = this.roots.filter(
      ({ tenant, agents }) =>
        (tenant === ALL_TENANTS || tenant === tenantId) &&
        (agents === undefined || (agentId !== undefined && agents.some((glob) => globMatches(glob, agentId)))),
    );
    const all = (await Promise.all(own.map(({ folder }) => skillsIn(folder)))).flat();
    const byName = new Map(all.toReversed().map((skill) => [skill.name.toLowerCase(), skill]));
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

async function isReadable(skill: Skill): Promise<boolean> {
  const text = await readSkill(skill).catch(() => undefined);
  return text !== undefined;
}
