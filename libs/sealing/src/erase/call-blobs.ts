import { argumentRefs, suspensionBlob, type BlobRef } from '#event-log';
import type { CallEvent } from '#contracts';

const ALWAYS: readonly BlobRef[] = ['arguments', 'secret-arguments', 'result', 'output'];

/** Names of all values of a call that may be in Redis, from its lifecycle events. */
export function blobRefsOf(events: readonly CallEvent[]): BlobRef[] {
  return [...ALWAYS, ...events.flatMap(namedBy)];
}

function namedBy(event: CallEvent): BlobRef[] {
  switch (event.type) {
    case 'call.approval_decided': {
      const { edited } = event.data;
      return edited === undefined ? [] : Object.values(argumentRefs({ ...edited, argumentsEdited: true }));
    }
    case 'call.start':
      return [`worker-output.${event.fence}`];
    case 'call.retry':
    case 'call.input_requested':
      return event.data.state === undefined ? [] : [suspensionBlob(event.data.state)];
    case 'call.input_given':
      return event.data.stored === undefined ? [] : [suspensionBlob(event.data.stored)];
    case 'call.submitted':
    case 'call.approval_requested':
    case 'call.update':
    case 'call.progress':
    case 'call.hook':
    case 'call.turn':
    case 'call.cancel_requested':
    case 'call.end':
      return [];
    default:
      return event satisfies never;
  }
}
