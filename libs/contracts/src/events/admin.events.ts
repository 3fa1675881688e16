import { z } from 'zod';
import { Json } from '../values/json.js';
import { keysOf } from '../values/keys-of.js';
import { EnvelopeFields } from './envelope.js';

/** Types of administrative acts, with their descriptions. Readable only with the scope `admin`. */
export const ADMIN_ACTS = {
  'admin.key_created': 'an API key was made',
  'admin.key_rotated': 'an API key got another text',
  'admin.key_revoked': 'an API key was ended',
  'admin.signed_in': 'a person signed in to the dashboard',
  'admin.signed_out': 'a person signed out of the dashboard',
  'admin.logins_ended': 'all logins of a person were ended',
  'admin.config_reloaded': 'a gateway took over a changed config file',
  'admin.hold_set': 'a legal hold began',
  'admin.hold_lifted': 'a legal hold ended',
  'admin.session_changed': 'the settings of a session were changed',
  'admin.session_deleted': 'a session was ended, with all that was granted to it',
  'admin.grant_made': 'a decision about a call trusts or denies later calls of its session',
  'admin.source_added': 'a tool source was added or replaced',
  'admin.source_removed': 'a tool source was removed',
  'admin.source_authorized': 'a person let a source have tokens',
  'admin.source_authorization_revoked': 'the tokens of a source were revoked',
  'admin.source_accepted': 'changed tools of a source were accepted',
  'admin.schedule_created': 'a schedule was made',
  'admin.schedule_deleted': 'a schedule was ended',
  'admin.schedule_paused': 'a schedule was paused',
  'admin.schedule_resumed': 'a paused schedule goes on',
  'admin.delivery_retried': 'a delivery to a webhook that was given up is sent again',
  'admin.call_erased': 'the content of a call is erased',
} as const;
export type AdminType = keyof typeof ADMIN_ACTS;

export const ADMIN_TYPES = keysOf(ADMIN_ACTS);
export const AdminType = z.enum(ADMIN_TYPES).meta({
  id: 'AdminType',
  description: Object.entries(ADMIN_ACTS)
    .map(([type, text]) => `\`${type}\`: ${text}.`)
    .join(' '),
});

/** Characters of `before` and `after` above which only a digest is stored. */
export const ADMIN_DATA_CHARS = 4_096;

export const AdminData = z.object({
  target: z
    .string()
    .describe('What was changed: the id or name of a key, session, source, schedule, delivery or call, or the path of a file.'),
  people: z.array(z.string()).optional().describe('Who is behind the key, as far as the config says. Absent without a key.'),
  before: Json.optional().describe('How it was: without secrets, or its `sha256` and `chars` where it is long. Absent where nothing was.'),
  after: Json.optional().describe('The same, afterwards. Absent where nothing is left.'),
  reason: z.string().optional().describe('Why, as the person said. Absent where nothing was said.'),
});
export type AdminData = z.output<typeof AdminData>;

export const AdminEvent = EnvelopeFields.pick({
  specversion: true,
  id: true,
  source: true,
  time: true,
  datacontenttype: true,
  dataschema: true,
  tenantid: true,
})
  .extend({
    type: AdminType,
    subject: z.string().describe('`admin/` and the tenant.'),
    actor: z.string().describe('Who did it: `apikey:<keyId>`, or `system:gateway` for a config file that was changed.'),
    actorname: z
      .string()
      .optional()
      .describe('The person who did it, such as `Ada Example <ada@example.com>`. Absent unless a person has signed in.'),
    data: AdminData.describe('What was done.'),
  })
  .meta({ id: 'AdminEvent', description: 'An administrative act: a CloudEvent 1.0.' });
export type AdminEvent = z.output<typeof AdminEvent>;
