import { escapeInvisible } from './invisible.js';

/**
 * Who did something, for people: the id, with the name before it where one is known. People choose their names, and a name alone
 * may look like the id or the name of another.
 */
export function actorText(id: string, name: string | undefined): string {
  return escapeInvisible(name === undefined ? id : `${name} (${id})`);
}
