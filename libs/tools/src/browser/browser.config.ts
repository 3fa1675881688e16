import { z } from 'zod';

/** The variables that this module reads; an app spreads them into its own schema. */
export const BROWSER_ENV = {
  BROWSER: z
    .enum(['sandboxed', 'unsandboxed', 'off'], { error: 'expected sandboxed, unsandboxed or off' })
    .default('sandboxed')
    .describe(
      '`browser`: `sandboxed` needs the sandbox of Chromium itself, which does not work for root; `unsandboxed` opens pages without it; `off`.',
    ),
  BROWSER_EXECUTABLE: z.string().min(1).optional().meta({ description: 'Chromium for `browser`.', shownDefault: 'the one on the PATH' }),
  BROWSER_SESSIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(8)
    .describe('Sessions of a worker that have a browser at the same time.'),
  BROWSER_IDLE_MS: z.coerce
    .number()
    .int()
    .min(1_000)
    .max(86_400_000)
    .default(600_000)
    .describe('Milliseconds after which the unused browser of a session is closed.'),
};

const BrowserEnv = z.object(BROWSER_ENV);

/** Injection token of the settings. Default: those of the process. */
export const BROWSER_SETTINGS = Symbol('BROWSER_SETTINGS');

export interface BrowserSettings {
  readonly mode: 'sandboxed' | 'unsandboxed' | 'off';
  readonly executable?: string | undefined;
  readonly mostSessions: number;
  readonly idleMs: number;
  /** Time limit of an action or a navigation. */
  readonly actionMs: number;
}

const ACTION_MS = 20_000;

/** @throws Error for a value that is none */
export function browserSettingsFrom(env: Readonly<Record<string, string | undefined>>): BrowserSettings {
  const given = Object.fromEntries(Object.entries(env).filter(([name, value]) => name.startsWith('BROWSER') && value !== ''));
  const values = BrowserEnv.parse(given);
  return {
    mode: values.BROWSER,
    executable: values.BROWSER_EXECUTABLE,
    mostSessions: values.BROWSER_SESSIONS,
    idleMs: values.BROWSER_IDLE_MS,
    actionMs: ACTION_MS,
  };
}
