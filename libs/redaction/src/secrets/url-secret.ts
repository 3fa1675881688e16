import { charSet, runEnd } from './char-set.js';
import { REDACTED, type MatchResult } from './secret-match.js';

const USERINFO = charSet(/[^\s/?#"'<>`\\]/, true);
const LONGEST_USERINFO = 512;

/** The password of `scheme://user:password@host`, looked at from the colon. The last `@` counts, since passwords hold some. */
export function urlSecret(text: string, at: number, final: boolean): MatchResult {
  const known = text.length;
  if (at + 2 >= known) return final || !'//'.startsWith(text.slice(at + 1)) ? undefined : { partialFrom: at + 1 };
  if (text.charCodeAt(at + 1) !== 47 || text.charCodeAt(at + 2) !== 47) return undefined;
  const from = at + 3;
  const limit = Math.min(known, from + LONGEST_USERINFO);
  const end = runEnd(text, from, limit, USERINFO);
  if (end === known && !final && end < from + LONGEST_USERINFO) return { partialFrom: at + 1 };
  const userinfo = text.slice(from, end);
  const host = userinfo.lastIndexOf('@');
  const colon = userinfo.indexOf(':') + 1;
  if (colon === 0 || colon >= host) return undefined;
  const password = userinfo.slice(colon, host);
  return password === REDACTED || /^(?:\$|\{|<|\*+$|%[sd])/.test(password) ? undefined : { start: from + colon, end: from + host };
}
