import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Capabilities of a client, as far as the gateway uses them. */
export interface ClientFeatures {
  /** Forms for its user. */
  readonly elicitation: boolean;
  /** Sampling on behalf of servers. */
  readonly sampling: boolean;
  /** Tasks as results of calls. */
  readonly tasks: boolean;
}

const Capabilities = z.looseObject({
  elicitation: z.looseObject({ form: z.unknown().optional(), url: z.unknown().optional() }).optional(),
  sampling: z.looseObject({}).optional(),
  extensions: z.looseObject({ [TASKS_EXTENSION]: z.looseObject({}).optional() }).optional(),
});

/** Features of a client of a revision since 2026-07-28, which declares capabilities with each request. */
export function featuresOfRequest(ctx: ServerContext): ClientFeatures {
  return featuresOfMeta(ctx.mcpReq.envelope ?? {});
}

/** Features by the `_meta` of a request. */
export function featuresOfMeta(meta: Readonly<Record<string, unknown>>): ClientFeatures {
  const { elicitation, sampling, extensions } = parsed(meta[CLIENT_CAPABILITIES_META_KEY]);
  return { elicitation: hasForms(elicitation), sampling: sampling !== undefined, tasks: extensions?.[TASKS_EXTENSION] !== undefined };
}

/** Features of a client of an older revision, which declares capabilities once in `initialize` and has no tasks in this form. */
export function featuresOfSession(capabilities: unknown): ClientFeatures {
  const { elicitation, sampling } = parsed(capabilities);
  return { elicitation: hasForms(elicitation), sampling: sampling !== undefined, tasks: false };
}

/** True if the client has forms. An empty object means forms, since modes came later. */
function hasForms(elicitation: z.output<typeof Capabilities>['elicitation']): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function parsed(capabilities: unknown): z.output<typeof Capabilities> {
  return Capabilities.safeParse(capabilities).data ?? {};
}
