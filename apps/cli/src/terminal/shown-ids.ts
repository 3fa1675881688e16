import { shortCallId } from '#contracts';
import type { Terminal } from './terminal.js';

/** How a list writes an id: short for a person, whole for a program. */
export function shownIds(terminal: Pick<Terminal, 'isRead'>): (callId: string) => string {
  return terminal.isRead ? shortCallId : (callId) => callId;
}
