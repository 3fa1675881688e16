import type { Call } from '#contracts';
import { textOf } from '../../support/policy-case.js';
import type { Agent } from '../../support/agent.js';

/** A cluster with an agent, and a web site that it may reach. */
export type DialectInstallation = () => { readonly agent: Agent; readonly origin: string };

export type Speaker = (tool: string, args: unknown, more?: Record<string, unknown>) => Promise<Call>;

/** Runs calls of one dialect, in a session of their own. */
export function speakerOf(started: DialectInstallation, dialect: string): Speaker {
  return (tool, args, more = {}) => started().agent.run(tool, args, { sessionId: `in-${dialect}`, dialect, ...more });
}

/** JSON between the marks of content from outside. */
export function jsonOf(call: Call): unknown {
  const [item] = call.result?.content ?? [];
  if (item?.type === 'json') return item.json;
  const text = textOf(call);
  return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
}
