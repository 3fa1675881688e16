import type { ToolSubject } from '#contracts';
import { globMatches } from '#patterns';
import type { CallFacts } from '../call-facts.js';

/** Operation that a call requests: `service:operation`, or the operation alone for tools without services. */
export interface OperationArgument {
  readonly text: string;
  readonly service: string | undefined;
  /** True if the tool declares this operation as read-only. */
  readonly readOnly: boolean;
}

export function operationOf(
  name: string,
  subject: Extract<ToolSubject, { kind: 'operation' }>,
  args: CallFacts['args'],
): OperationArgument {
  const given = subject.service !== undefined && Object.hasOwn(args, subject.service) ? args[subject.service] : undefined;
  const service = typeof given === 'string' ? given : undefined;
  const text = service === undefined ? name : `${service}:${name}`;
  const { readOnly = [], exceptions = [] } = subject;
  const reads = matchesAny(readOnly, name) && !matchesAny(exceptions, name) && !matchesAny(exceptions, text);
  return { text, service, readOnly: reads && hasReadOnlyTargets(subject, args) };
}

function hasReadOnlyTargets({ readOnlyTargets }: Extract<ToolSubject, { kind: 'operation' }>, args: CallFacts['args']): boolean {
  if (readOnlyTargets === undefined || !Object.hasOwn(args, readOnlyTargets.argument)) return true;
  const value = args[readOnlyTargets.argument];
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.every((it) => typeof it === 'string' && matchesAny(readOnlyTargets.globs, it));
}

function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((glob) => globMatches(withoutSlashes(glob), withoutSlashes(text)));
}

/** The first of the globs that means the operation; one without a colon means all of a service. */
export function matchingOperation(patterns: readonly string[], { text, service }: OperationArgument): string | undefined {
  return patterns.find(
    (pattern) =>
      globMatches(withoutSlashes(pattern), withoutSlashes(text)) ||
      (service !== undefined && !pattern.includes(':') && globMatches(withoutSlashes(pattern), withoutSlashes(service))),
  );
}

/** The same for what shall never run: also however it is spelt. */
export function deniedOperation(patterns: readonly string[], operation: OperationArgument): string | undefined {
  const plain = (text: string) => text.trim().toLowerCase();
  const { text, service } = operation;
  const spelt = {
    ...operation,
    text: service === undefined ? plain(text) : `${plain(service)}:${plain(text.slice(service.length + 1))}`,
    service: service === undefined ? undefined : plain(service),
  };
  return patterns.find(
    (pattern) => matchingOperation([pattern], operation) !== undefined || matchingOperation([pattern.toLowerCase()], spelt) !== undefined,
  );
}

/** A star of these globs means any text; for paths it would stop at a slash. */
function withoutSlashes(text: string): string {
  return text.replaceAll('/', '\u2044');
}
