import type { CallEvent, SubmittedData } from '#contracts';
import { parseTrustedJson } from './trusted-json.js';

/**
 * Old events are never rewritten; they are lifted when they are read. An upcaster turns the data of one major version of
 * a type into the next: pure and total, one a step. All types are at major version 1, so the table is empty; the first
 * change that old readers cannot take puts its function here and a golden file of the old form into `test/replay/`.
 */
export type Upcaster = (data: unknown) => unknown;

const UPCASTERS: Readonly<Record<string, readonly Upcaster[]>> = {};

/** An event as stored, whatever its major version, as this version's readers know it. The text must come from the log. */
export function upcastEvent(json: string): CallEvent {
  const event = parseTrustedJson<CallEvent>(json);
  const steps = UPCASTERS[event.type];
  if (steps === undefined) return event;
  const major = Number(event.dataschema.slice(event.dataschema.lastIndexOf(':') + 1));
  const data = steps.slice(major - 1).reduce<unknown>((value, step) => step(value), event.data);
  return Object.assign(event, { data });
}

/** The data of `call.submitted` out of its stored text (members without braces). */
export function upcastSubmitted(text: string): SubmittedData {
  return parseTrustedJson<{ data: SubmittedData }>(`{${text}}`).data;
}
