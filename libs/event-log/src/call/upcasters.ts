import type { CallEvent, SubmittedData } from '#contracts';
import { parseTrustedJson } from './trusted-json.js';

/**
 * Old events are never rewritten but converted on each read. An upcaster turns the data of one major version of a type into the
 * next: pure and total, one a step. All types are at major version 1, so the table is empty; the first change that old readers
 * cannot parse adds its function here and a golden file of the old form to `test/replay/`.
 */
export type Upcaster = (data: unknown) => unknown;

const UPCASTERS: Readonly<Record<string, readonly Upcaster[]>> = {};

/** Parses a stored event of any major version into the current form. The text must come from the log. */
export function upcastEvent(json: string): CallEvent {
  return upcast(parseTrustedJson<CallEvent>(json));
}

/** Converts a parsed event of any major version into the current form. */
export function upcast(event: CallEvent): CallEvent {
  const steps = UPCASTERS[event.type];
  if (steps === undefined) return event;
  const major = Number(event.dataschema.slice(event.dataschema.lastIndexOf(':') + 1));
  const data = steps.slice(major - 1).reduce<unknown>((value, step) => step(value), event.data);
  return Object.assign(event, { data });
}

/** Data of `call.submitted` from its stored text (members without braces). */
export function upcastSubmitted(text: string): SubmittedData {
  return parseTrustedJson<{ data: SubmittedData }>(`{${text}}`).data;
}
