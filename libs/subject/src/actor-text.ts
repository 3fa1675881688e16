import { escapeInvisible } from './invisible.js';

/**
 * Actor for people: the id, preceded by the name if known. A name alone may look like the id or the name of another, since
 * people choose their names.
 */
export function actorText(id: string, name: string | undefined): string {
  return escapeInvisible(name === undefined ? id : `${name} (${id})`);
}
