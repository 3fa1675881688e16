import { z } from 'zod';
import {
  Call,
  CallEvent,
  CallJob,
  ClientFrame,
  ConfigFile,
  EventFilter,
  HookInput,
  HookVerdict,
  PolicySettings,
  Problem,
  Result,
  ServerFrame,
  SessionGrants,
  SubmitCallBody,
  ToolDescriptor,
} from '#contracts';

/**
 * Published schemas for validation in other languages: one JSON Schema (2020-12) per file. Schemas of inputs are strict; those
 * of outputs may grow.
 */
const PUBLISHED = {
  call: { schema: Call, io: 'output' },
  'call-event': { schema: CallEvent, io: 'output' },
  'call-job': { schema: CallJob, io: 'output' },
  'client-frame': { schema: ClientFrame, io: 'input' },
  config: { schema: ConfigFile, io: 'input' },
  'event-filter': { schema: EventFilter, io: 'input' },
  'hook-input': { schema: HookInput, io: 'output' },
  'hook-verdict': { schema: HookVerdict, io: 'input' },
  policy: { schema: PolicySettings, io: 'input' },
  problem: { schema: Problem, io: 'output' },
  result: { schema: Result, io: 'output' },
  'server-frame': { schema: ServerFrame, io: 'output' },
  'session-grants': { schema: SessionGrants, io: 'output' },
  'submit-call': { schema: SubmitCallBody, io: 'input' },
  tool: { schema: ToolDescriptor, io: 'output' },
} as const;

/** Text of every published schema by file name. */
export function publishedSchemas(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(PUBLISHED).map(([name, { schema, io }]) => {
      const document = z.toJSONSchema(schema, {
        io,
        target: 'draft-2020-12',
        override: ({ jsonSchema }) => openForReaders(jsonSchema, io),
      });
      return [`${name}.json`, `${JSON.stringify(document, undefined, 2)}\n`];
    }),
  );
}

/** Opens schemas of outputs: readers must ignore unknown fields, so none may forbid them. */
function openForReaders(schema: { additionalProperties?: unknown }, io: 'input' | 'output'): void {
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}
