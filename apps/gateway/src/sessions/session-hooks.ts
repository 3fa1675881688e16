import { ProblemError, type SessionHook, type Violation } from '#contracts';
import { EgressError, EgressPolicy } from '#sandbox';

/**
 * Throws a ProblemError for hooks that a session may not define: commands unless the config file allows them, webhooks to
 * non-public addresses. Each webhook call checks the resolved address again.
 */
export function assertHooksAllowed(hooks: readonly SessionHook[], commands: boolean, egress = new EgressPolicy()): void {
  const errors = hooks.flatMap(({ url, command }, index): Violation[] => {
    if (command !== undefined && !commands) {
      const message = 'expected `url`: commands are set in the config file, which does not allow them here (sessionHooks.commands)';
      return [{ pointer: `/hooks/${index}/command`, message }];
    }
    const message = url === undefined ? undefined : urlRejection(url, egress);
    return message === undefined ? [] : [{ pointer: `/hooks/${index}/url`, message }];
  });
  if (errors.length > 0) throw new ProblemError('invalid_request', errors.map(({ message }) => message).join('; '), { errors });
}

function urlRejection(url: string, egress: EgressPolicy): string | undefined {
  try {
    egress.check(url);
    return undefined;
  } catch (error) {
    if (error instanceof EgressError) return error.message;
    throw error;
  }
}
