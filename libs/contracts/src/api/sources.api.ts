import { z } from 'zod';
import { SourceStatus } from '../sources/announced-source.js';
import { SourceDefinition, SourceKind, SourceName, SourceTenant } from '../sources/source.js';

/** Field of a tool that differs from its accepted version. */
export const ToolChange = z
  .object({
    field: z.string().describe('Such as `description`, `input` or `tier`.'),
    before: z.string().describe('As it was accepted; text, or JSON.'),
    after: z.string().describe('As the source says now.'),
  })
  .meta({ id: 'ToolChange', description: 'What changed of a tool since it was accepted.' });
export type ToolChange = z.output<typeof ToolChange>;

export const SourceTool = z
  .object({
    name: z.string().describe('The name in the catalog.'),
    rawName: z.string().describe('The name by which the source knows it.'),
    digest: z.string().describe('SHA-256 of name, description, schemas and facts.'),
    pending: z.boolean().describe('It changed, and is unavailable until the change is accepted.'),
    changes: z.array(ToolChange).describe('What changed; empty unless pending.'),
  })
  .meta({ id: 'SourceTool', description: 'A tool of a source.' });
export type SourceTool = z.output<typeof SourceTool>;

export const SourceAuthorization = z
  .object({
    state: z.enum(['granted', 'needed']).describe('`needed`: a person has to authorize the source before its tools can be called.'),
    reason: z.string().optional().describe('Why it is needed again. Absent where nothing was granted yet.'),
    by: z.string().optional().describe('The key or person that granted it last.'),
    at: z.iso.datetime().optional().describe('When.'),
    scope: z.string().optional().describe('What the issuer granted, where it says so.'),
  })
  .meta({ id: 'SourceAuthorization', description: 'Whether a person lets a source with `auth.type: authorizationCode` have tokens.' });
export type SourceAuthorization = z.output<typeof SourceAuthorization>;

export const BeginSourceAuthorization = z
  .object({
    url: z.string().describe('Where the person goes with a browser: a page of the issuer.'),
    expiresAt: z.iso.datetime().describe('Until when they have to come back.'),
    redirectUri: z.string().describe('Where the issuer sends them back to: a page of the dashboard.'),
  })
  .meta({ id: 'BeginSourceAuthorization', description: 'An authorization has begun.' });
export type BeginSourceAuthorization = z.output<typeof BeginSourceAuthorization>;

export const FinishSourceAuthorization = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .max(16_384)
      .describe('The address at which the person came back, whole.'),
  })
  .meta({ id: 'FinishSourceAuthorization', description: 'Where the issuer sent the person to.' });
export type FinishSourceAuthorization = z.output<typeof FinishSourceAuthorization>;

export const SourceAuthorizationRevoked = z
  .object({ atIssuer: z.boolean().describe('Whether the issuer ended the tokens, too (RFC 7009). They are removed here anyway.') })
  .meta({ id: 'SourceAuthorizationRevoked', description: 'The authorization is over.' });
export type SourceAuthorizationRevoked = z.output<typeof SourceAuthorizationRevoked>;

export const SourceSummary = z
  .object({
    name: SourceName,
    kind: SourceKind,
    tenantId: SourceTenant.describe('`*`: all tenants.'),
    origin: z
      .enum(['config', 'api', 'announced'])
      .describe('Where it comes from: config file, this interface, or a worker that announced it.'),
    status: z
      .union([SourceStatus, z.literal('connecting')])
      .describe('`pending`: changed tools wait for a person. `connecting`: no worker has reported yet.'),
    tools: z.number().int().describe('Tools in the catalog, also those that are pending.'),
    pending: z.number().int().describe('Tools whose change was not accepted yet.'),
    error: z.string().optional().describe('Why it is stale or failed.'),
    updatedAt: z.iso.datetime().optional().describe('When its tools were last read.'),
    authorization: SourceAuthorization.optional().describe('Absent for sources that no person authorizes.'),
  })
  .meta({ id: 'SourceSummary', description: 'A source as lists show it.' });
export type SourceSummary = z.output<typeof SourceSummary>;

export const Source = SourceSummary.extend({
  definition: SourceDefinition.optional().describe('Absent for announced sources, and for sources of all tenants. Secrets are references.'),
  list: z.array(SourceTool).describe('Its tools.'),
  problems: z.array(z.string()).describe('Tools and parts of tools that were left out, with the reason.'),
}).meta({ id: 'Source', description: 'A source, its tools and its problems.' });
export type Source = z.output<typeof Source>;

export const SourcePage = z
  .object({ sources: z.array(SourceSummary).describe('By name.') })
  .meta({ id: 'SourcePage', description: 'Tool sources, by name.' });
export type SourcePage = z.output<typeof SourcePage>;

export const AcceptSourceBody = z
  .strictObject({
    tools: z
      .array(
        z.strictObject({
          rawName: z.string().describe('The name that the source gives to the tool.'),
          digest: z.string().describe('The `digest` of the change that was looked at.'),
        }),
      )
      .max(5_000)
      .optional()
      .describe('The changes that were looked at. A tool that changed again since is not accepted. Not set: all that are pending now.'),
  })
  .meta({ id: 'AcceptSourceBody', description: 'Which changed tools to accept.' });
export type AcceptSourceBody = z.output<typeof AcceptSourceBody>;
