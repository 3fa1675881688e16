import { describe, expect, it } from '@jest/globals';
import { ConfigFile } from '#contracts';

const faultsOf = (hook: object) => {
  const read = ConfigFile.safeParse({ hooks: [{ name: 'a', on: 'before', ...hook }] });
  return read.success ? [] : read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
};

describe('a hook in the config file', () => {
  it('completes a hook: all tools, ten seconds and ten KiB, not cached, no secrets, and calls pass when it fails [HK-12]', () => {
    expect(ConfigFile.parse({ hooks: [{ name: 'a', on: 'after', command: 'true' }] }).hooks).toEqual([
      {
        name: 'a',
        on: 'after',
        command: 'true',
        match: ['*'],
        timeoutMs: 10_000,
        maxOutputBytes: 10_240,
        cacheMs: 0,
        onError: 'allow',
        secrets: false,
      },
    ]);
  });

  it.each([
    [{}, 'hooks.0: expected exactly one of command, url and module'],
    [{ command: 'true', url: 'https://example.com' }, 'hooks.0: expected exactly one of command, url and module'],
    [{ url: 'ftp://example.com' }, 'hooks.0.url: expected an absolute http or https URL'],
    [
      { url: 'https://me:secret@example.com' },
      'hooks.0.url: expected a URL without a name and password: a header of `headersEnv` keeps them out of the file',
    ],
    [{ module: 'guard.mjs' }, 'hooks.0.module: expected an absolute path'],
    [{ command: 'true', secretEnv: 'A' }, 'hooks.0: `secretEnv` and `headersEnv` belong to `url`'],
    [{ url: 'https://example.com', env: ['A'] }, 'hooks.0: `env` and `directory` belong to `command`'],
    [
      { url: 'https://example.com', secretEnv: 'whsec_abc=' },
      'hooks.0.secretEnv: expected the name of an environment variable, not its value',
    ],
    [{ command: 'true', directory: 'workspace' }, 'hooks.0: hooks before a call run in the gateway, which has no workspace'],
    [
      { command: 'true', on: 'stop' },
      'hooks.0.on: expected before, after, after_end, before_update or after_update; hooks of prompts and sessions belong to the agent, which is not run here',
    ],
  ])('refuses the hook %j with the expected form', (hook, fault) => {
    expect(faultsOf(hook)).toContain(fault);
  });

  it('refuses a hook with a duplicate name', () => {
    const hook = { name: 'a', on: 'before', command: 'true' };
    expect(ConfigFile.safeParse({ hooks: [hook, hook] }).error?.issues[0]?.message).toBe('expected a different `name` for every hook');
  });
});
