import { z } from 'zod';
import { keysOf } from '../values/keys-of.js';
import { SESSION_DATA_PARTS } from '../values/session-data.js';
import { SourceKind } from '../sources/source.js';
import { Pool } from '../tools/tool.js';

/** Changed parts of a session; `GET /v1/sessions/:id` returns its current state. */
export const SessionPart = z.enum(['posture', 'tools', 'allowedTools', 'grants', 'strategy', 'dialect', 'hooks', 'outputSchema', 'userId']);
export type SessionPart = z.output<typeof SessionPart>;

/** Message of an agent to the people who watch its session. */
export const SESSION_MESSAGE = {
  message: z.string().describe('What the agent says, without secrets.'),
  status: z.enum(['normal', 'proactive']).describe('`normal`: an answer. `proactive`: something that it was not asked for.'),
  attachments: z
    .array(
      z.object({
        path: z.string().describe('Where it is, in the workspace of the session.'),
        size: z.number().int().describe('Its size in bytes.'),
        isImage: z.boolean().describe('Whether it is an image.'),
      }),
    )
    .describe('Files that belong to it.'),
};

const OF_SOURCE = { kind: SourceKind.describe('The kind of the source.') };

/**
 * Data of events beside calls, for watchers of sessions, workers and sources. Delivered only to filters that name their types.
 * Events of a session belong to its tenant; workers serve all tenants, so every key that may read gets their events. Events of
 * a source belong to its tenant; of a source for all tenants every key gets them.
 */
export const NOTICE_DATA = {
  'session.put': z
    .object({ changed: z.array(SessionPart).describe('The parts of the session that changed.') })
    .describe('The session was set up, or something was granted to it.'),
  'session.deleted': z.object({}).describe('The session ended.'),
  'session.steered': z
    .object({
      messageId: z.string().describe('The id of the message.'),
      waiting: z.number().int().describe('Messages that no batch has taken yet, this one among them.'),
    })
    .describe('A person said something to the session.'),
  'session.data': z
    .object({
      changed: z.array(z.enum(SESSION_DATA_PARTS)).describe('The parts that changed; `GET /v1/sessions/:id` returns them.'),
      callId: z.string().describe('The call that changed them.'),
    })
    .describe('An agent changed what it keeps in the session, such as its todo list.'),
  'session.message': z
    .object({ callId: z.string().describe('The call that sent it.'), ...SESSION_MESSAGE })
    .describe('An agent says something to the people who watch its session.'),
  'session.cancelled': z
    .object({
      calls: z.number().int().describe('Calls that were cancelled.'),
      batches: z.number().int().describe('Batches that were stopped.'),
    })
    .describe('The calls and batches of the session were stopped.'),
  'worker.started': z
    .object({
      pools: z
        .array(
          z.object({
            pool: Pool.describe('The name of the pool.'),
            slots: z.number().int().describe('Calls of the pool that it runs at the same time.'),
          }),
        )
        .describe('The pools that the worker serves.'),
    })
    .describe('The worker takes calls. Also of one that was taken for lost and is heard of again.'),
  'worker.draining': z
    .object({ running: z.number().int().describe('Calls that still run there.') })
    .describe('The worker takes no more calls.'),
  'worker.gone': z
    .object({
      how: z.enum(['stopped', 'lost']).describe('`stopped`: it ended as asked. `lost`: nothing was heard of it for 10 s.'),
    })
    .describe('The worker is gone.'),
  'source.loading': z.object(OF_SOURCE).describe('A source of tools is opened for the first time.'),
  'source.ready': z
    .object({ ...OF_SOURCE, tools: z.number().int().describe('The tools that it has.') })
    .describe('The source is initialised: its tools were read. Also when it is back after a fault.'),
  'source.failed': z
    .object(OF_SOURCE)
    .describe('The source cannot be opened, or its tools cannot be read: they are not available. `GET /v1/sources` says why.'),
  'source.changed': z
    .object({
      ...OF_SOURCE,
      added: z.number().int().describe('Tools that it did not have before.'),
      changed: z.number().int().describe('Tools with another description, schema or facts.'),
      removed: z.number().int().describe('Tools that it does not have any more.'),
    })
    .describe('The tools of the source changed.'),
  'source.exited': z.object(OF_SOURCE).describe('The connection to the source was lost: its program ended, or its server went away.'),
} as const;

export type NoticeType = keyof typeof NOTICE_DATA;
export const NOTICE_TYPES = keysOf(NOTICE_DATA);
export type NoticeData<T extends NoticeType> = z.output<(typeof NOTICE_DATA)[T]>;
export type SessionNoticeType = Extract<NoticeType, `session.${string}`>;
export type SourceNoticeType = Extract<NoticeType, `source.${string}`>;
export type WorkerNoticeType = Extract<NoticeType, `worker.${string}`>;
