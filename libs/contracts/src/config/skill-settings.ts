import { z } from 'zod';
import { AgentGlob } from '../values/principal.js';
import { Label } from '../values/names.js';
import { ALL_TENANTS } from '../sources/source-fields.js';

/** Folder whose subfolders are skills. */
export const SkillRoot = z
  .strictObject({
    folder: z
      .string()
      .max(4_096)
      .regex(/^\//, 'expected an absolute path')
      .describe('Absolute path of a folder on each gateway. Every folder in it that has a `SKILL.md` is a skill of its name.'),
    tenant: z
      .union([z.literal(ALL_TENANTS), Label])
      .default('default')
      .describe('The tenant that has the skills; `*` for all tenants.'),
    agents: z.array(AgentGlob).optional().describe('The agents that have the skills, as names or globs. Not set: all calls of the tenant.'),
  })
  .meta({ id: 'SkillRoot', description: 'Where skills are, and who has them.' });
export type SkillRoot = z.output<typeof SkillRoot>;

/** Folders of skills. Of several skills with one name, the first folder's counts. */
export const SkillRoots = z.array(SkillRoot).max(50).default([]).describe('Folders with skills, which the tool `skill` loads.');
