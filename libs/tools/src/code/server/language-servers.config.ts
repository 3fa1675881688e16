import { z } from 'zod';

const TIMES = { startMs: 25_000, requestMs: 25_000, quietMs: 1_000 };
const EXTENSION = /^[A-Za-z0-9_+-]{1,32}$/;

/** Commands of language servers, with the extensions of their files. */
const LanguageServerList = z.record(
  z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/),
  z.strictObject({
    command: z.array(z.string().min(1)).min(1),
    extensions: z.array(z.string().regex(EXTENSION)).min(1),
    options: z.record(z.string(), z.unknown()).optional(),
  }),
);

/** The variables that this module reads; an app spreads them into its own schema. */
export const LANGUAGE_SERVERS_ENV = {
  LANGUAGE_SERVERS: z
    .string()
    .optional()
    .describe(
      'Language servers of `code`, `code_edit` and `language_server`, as JSON: name to command, extensions of files and, if needed, initialization options, such as `{"typescript":{"command":["typescript-language-server","--stdio"],"extensions":["ts","tsx","js"]}}`. They run in the sandbox, without a network: name folders of programs that are not under `/usr` in `SANDBOX_READABLE`.',
    ),
  LANGUAGE_SERVERS_AT_ONCE: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(8)
    .describe('Language servers of a worker that run at the same time; a tenant has at most half of them.'),
  LANGUAGE_SERVERS_IDLE_MS: z.coerce
    .number()
    .int()
    .min(1_000)
    .max(86_400_000)
    .default(600_000)
    .describe('Milliseconds after which an unused language server is ended.'),
};

/** Settings without any server. */
export const NO_LANGUAGE_SERVERS: LanguageServerSettings = { servers: [], most: 1, idleMs: 600_000, ...TIMES };

const LanguageServersEnv = z.object(LANGUAGE_SERVERS_ENV);

export interface ServerSettings {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** File extensions, without the dot, in lower case. */
  readonly extensions: readonly string[];
  /** Given to the server when it is initialized. */
  readonly options?: unknown;
}

export interface LanguageServerSettings {
  readonly servers: readonly ServerSettings[];
  readonly most: number;
  readonly idleMs: number;
  /** Time limit for the start of a server. */
  readonly startMs: number;
  /** Time limit for a response, or for a report of diagnostics. */
  readonly requestMs: number;
  /** Pause after the last report of diagnostics that counts as the end of the analysis. */
  readonly quietMs: number;
}

/** @throws Error about invalid variables */
export function languageServersFrom(env: Readonly<Record<string, string | undefined>>): LanguageServerSettings {
  const given = Object.entries(env).filter(([name, value]) => name.startsWith('LANGUAGE_SERVERS') && value !== '');
  const values = LanguageServersEnv.parse(Object.fromEntries(given));
  const servers = values.LANGUAGE_SERVERS === undefined ? [] : serversOf(values.LANGUAGE_SERVERS);
  return { servers, most: values.LANGUAGE_SERVERS_AT_ONCE, idleMs: values.LANGUAGE_SERVERS_IDLE_MS, ...TIMES };
}

function serversOf(text: string): ServerSettings[] {
  const parsed = LanguageServerList.safeParse(jsonOf(text));
  if (!parsed.success)
    throw new Error(
      `LANGUAGE_SERVERS: expected JSON such as {"python":{"command":["pylsp"],"extensions":["py"]}}; ${z.prettifyError(parsed.error)}`,
    );
  const owners = new Map<string, string>();
  return Object.entries(parsed.data).map(([name, { command, extensions, options }]) => {
    for (const extension of extensions.map((it) => it.toLowerCase())) {
      const other = owners.get(extension);
      if (other !== undefined) throw new Error(`LANGUAGE_SERVERS: ${other} and ${name} both name the extension ${extension}: one of them`);
      owners.set(extension, name);
    }
    const [program = '', ...args] = command;
    const lower = extensions.map((it) => it.toLowerCase());
    return { name, command: [program, ...args], extensions: lower, ...(options === undefined ? {} : { options }) };
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
