import type { OfferedTool } from '../catalog/offered-tool.js';
import type { METHODS, Operation } from './operation.js';

type Facts = Required<Pick<OfferedTool, 'tier' | 'effect'>>;

/** RFC 9110, section 9.2: which methods are safe, and which may be repeated. */
const FACTS: Readonly<Record<(typeof METHODS)[number], Facts>> = {
  get: { tier: 'read_only', effect: 'pure' },
  head: { tier: 'read_only', effect: 'pure' },
  options: { tier: 'read_only', effect: 'pure' },
  query: { tier: 'read_only', effect: 'pure' },
  trace: { tier: 'read_only', effect: 'pure' },
  put: { tier: 'side_effecting', effect: 'idempotent' },
  delete: { tier: 'privileged', effect: 'idempotent' },
  post: { tier: 'side_effecting', effect: 'once' },
  patch: { tier: 'side_effecting', effect: 'once' },
};
/** Facts of a custom method in the document: it may have any effect. */
const UNKNOWN: Facts = { tier: 'privileged', effect: 'once' };
const isKnown = (method: string): method is keyof typeof FACTS => Object.hasOwn(FACTS, method);

/** The tool of an operation. Its facts count where the operator trusts the source. */
export function operationTool({ name, label, description, input, method }: Operation): OfferedTool {
  return { rawName: name, label, description, input, ...(isKnown(method) ? FACTS[method] : UNKNOWN), pool: 'net' };
}
