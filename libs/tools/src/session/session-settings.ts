import { z } from 'zod';

export const PERMISSION_SETTING = 'permissions.defaultMode';

const Text = z.string().min(1).max(200);
const Flag = z.boolean({ error: 'setting requires true or false' });
const oneOf = <const T extends readonly string[]>(...values: T) =>
  z.enum(values, { error: () => `setting requires one of ${values.join(', ')}` });

/** Settings that agents may read and change for their session, each with what it may be. Programs around the agent read them. */
export const SESSION_SETTINGS: Readonly<Record<string, z.ZodType<string | boolean>>> = {
  theme: Text,
  editorMode: oneOf('default', 'vim', 'emacs'),
  verbose: Flag,
  preferredNotifChannel: Text,
  autoCompactEnabled: Flag,
  autoMemoryEnabled: Flag,
  autoDreamEnabled: Flag,
  fileCheckpointingEnabled: Flag,
  showTurnDuration: Flag,
  terminalProgressBarEnabled: Flag,
  todoFeatureEnabled: Flag,
  model: Text,
  alwaysThinkingEnabled: Flag,
  [PERMISSION_SETTING]: oneOf('default', 'plan', 'acceptEdits', 'dontAsk', 'auto'),
  language: Text,
  teammateMode: oneOf('tmux', 'in-process', 'auto'),
};

/** The value as it is stored, or why it cannot be. "true" and "false" are accepted for flags. Pure. */
export function parseSetting(name: string, value: string | number | boolean): { value: string | boolean } | { error: string } {
  const schema = Object.hasOwn(SESSION_SETTINGS, name) ? SESSION_SETTINGS[name] : undefined;
  if (schema === undefined) return { error: `Unknown setting: "${name}"` };
  const isFlagText = schema === Flag && typeof value === 'string' && /^(true|false)$/i.test(value.trim());
  const parsed = schema.safeParse(isFlagText ? value.trim().toLowerCase() === 'true' : value);
  return parsed.success ? { value: parsed.data } : { error: parsed.error.issues.map(({ message }) => message).join('; ') };
}
