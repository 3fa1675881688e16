import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** What a client said that it can do, as far as the gateway uses it. */
export interface ClientFeatures {
  /** It shows forms to its user. */
  readonly elicitation: boolean;
  /** It asks its model on behalf of servers. */
  readonly sampling: boolean;
  /** It takes a task for an answer and asks for its result later. */
  readonly tasks: boolean;
}

const Capabilities = z.looseObject({
  elicitation: z.looseObject({ form: z.unknown().optional(), url: z.unknown().optional() }).optional(),
  sampling: z.looseObject({}).optional(),
  extensions: z.looseObject({ [TASKS_EXTENSION]: z.looseObject({}).optional() }).optional(),
});

/** Of a revision since 2026-07-28, which says its capabilities with each request. */
export function featuresOfRequest(ctx: ServerContext): ClientFeatures {
  return featuresOfMeta(ctx.mcpReq.envelope ?? {});
}

/** By the `_meta` of a request. */
export function featuresOfMeta(meta: Readonly<Record<string, unknown>>): ClientFeatures {
  const { elicitation, sampling, extensions } = parsed(meta[CLIENT_CAPABILITIES_META_KEY]);
  return { elicitation: hasForms(elicitation), sampling: sampling !== undefined, tasks: extensions?.[TASKS_EXTENSION] !== undefined };
}

/** Of a revision before, which says them once in `initialize`. It has no tasks in this form. */
export function featuresOfSession(capabilities: unknown): ClientFeatures {
  const { elicitation, sampling } = parsed(capabilities);
  return { elicitation: hasForms(elicitation), sampling: sampling !== undefined, tasks: false };
}

/** An empty object means forms: the modes came later. */
function hasForms(elicitation: z.output<typeof Capabilities>['elicitation']): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function parsed(capabilities: unknown): z.output<typeof Capabilities> {
  return Capabilities.safeParse(capabilities).data ?? {};
}
