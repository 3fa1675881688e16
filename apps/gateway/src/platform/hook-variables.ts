import { MIN_SECRET_CHARS, type ConfigFile, type Hook } from '#contracts';
import type { Fault } from './config-file.config.js';

/**
 * Variables named by webhooks and the login that `env` lacks. A gateway runs the hooks before a call; those of workers are
 * checked only `withWorkers` in the same process, since other workers have an environment of their own. Pure.
 */
export function hookVariableFaults(
  { hooks, agents, tenants, login }: ConfigFile,
  env: Readonly<Record<string, string | undefined>>,
  withWorkers: boolean,
): Fault[] {
  const ofAgents = (path: PropertyKey[], named: ConfigFile['agents']) =>
    Object.entries(named).flatMap(([name, agent]) => ofHooks([...path, name, 'hooks'], agent.hooks));
  const ofHooks = (path: PropertyKey[], list: readonly Hook[] = []) =>
    list.flatMap((hook, index) => (withWorkers || hook.on === 'before' ? ofHook([...path, index], hook) : []));
  const ofHook = (path: PropertyKey[], { secretEnv, headersEnv = {} }: Hook): Fault[] => [
    ...missing([...path, 'secretEnv'], secretEnv),
    ...Object.entries(headersEnv).flatMap(([header, name]) => missing([...path, 'headersEnv', header], name)),
  ];
  const missing = (path: PropertyKey[], name: string | undefined): Fault[] => {
    const value = name === undefined ? undefined : env[name];
    if (name === undefined || (value !== undefined && value.length >= MIN_SECRET_CHARS)) return [];
    if (!value) return [{ path, message: `expected a variable of this process; ${name} is not set` }];
    const why = 'because a shorter value cannot be redacted';
    return [{ path, message: `expected at least ${MIN_SECRET_CHARS} characters in the variable ${name}, ${why}; it has ${value.length}` }];
  };

  return [
    ...missing(['login', 'clientSecret', 'secretEnv'], login?.clientSecret?.secretEnv),
    ...ofHooks(['hooks'], hooks),
    ...ofAgents(['agents'], agents),
    ...Object.entries(tenants).flatMap(([tenant, { webhooks }]) =>
      webhooks.flatMap(({ secretEnv }, index) => missing(['tenants', tenant, 'webhooks', index, 'secretEnv'], secretEnv)),
    ),
    ...Object.entries(tenants).flatMap(([tenant, settings]) => [
      ...ofHooks(['tenants', tenant, 'hooks'], settings.hooks),
      ...ofAgents(['tenants', tenant, 'agents'], settings.agents),
    ]),
  ];
}
