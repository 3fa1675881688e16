import { z } from 'zod';
import { Tool } from '#tool-sdk';
import { GatewayTool } from '../gateway/gateway-tool.js';
import { PERMISSION_SETTING, SESSION_SETTINGS } from './session-settings.js';

export const ConfigArguments = z.strictObject({
  setting: z.string().min(1).max(100).describe('The name of the setting, such as "verbose".'),
  value: z
    .union([z.string().max(200), z.boolean(), z.number()])
    .optional()
    .describe('The new value. Not said: the setting is read.'),
});

/**
 * Reads or changes a setting of the session, which can only become stricter.
 * Handled by apps/gateway/src/gateway-tools/session-tools.service.ts.
 */
@Tool({
  name: 'config',
  label: 'Settings',
  description:
    `Reads a setting of the session, or changes it when a value is given: ${Object.keys(SESSION_SETTINGS).join(', ')}. ` +
    `Flags take true or false. ${PERMISSION_SETTING} can only be made stricter. Needs a session.`,
  input: ConfigArguments,
  tier: 'side_effecting',
  effect: 'keyed',
  subjects: [
    { kind: 'operation', argument: 'setting', readOnly: Object.keys(SESSION_SETTINGS).filter((name) => name !== PERMISSION_SETTING) },
  ],
  timeoutMs: 30_000,
  examples: [
    { title: 'Read one', arguments: { setting: 'model' } },
    { title: 'Change one', arguments: { setting: 'verbose', value: true } },
  ],
})
export class ConfigTool extends GatewayTool {}
