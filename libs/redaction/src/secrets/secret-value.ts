import { REDACTED } from './secret-match.js';

/** Form of a value beside the name of a secret. */
export interface ValueForm {
  /** All of a header. */
  readonly header: boolean;
  readonly quotedName: boolean;
  readonly quoted: boolean;
  /** `name=value` without blanks, or `--name value`. */
  readonly tight: boolean;
  /** The character after the value. */
  readonly next: string;
}

/** Types, placeholders and similar words that documents and programs contain in place of a secret. */
const NO_VALUES = new Set(
  (
    'string number boolean bool int integer bytes bytea text varchar object any unknown never void null nil none undefined true false ' +
    'optional required password passwd token secret key hidden redacted masked empty default example placeholder changeme'
  ).split(' '),
);

/** References to where the value really is: `$NAME`, `${…}`, `{{…}}`, `<name>`, `%s`, `***`. */
const ELSEWHERE = /^(?:\$|\{\{|<|%[sd(]|\*+$|x{3,}$|\.{3}|…|os\.environ|process\.env|import\.meta|env[.[]|ENV\[|secrets?\.)|\$\{|\{\{/;
const REFERENCE = /^[A-Za-z_$][\w$]*(?:\??\.[\w$]+)*!?$/;
const NAMED_LIKE_A_SECRET = /(?:password|passwd|secret|token|key|credentials?|passphrase|pwd|auth)s?!?$/i;

/** True if the value beside the name of a secret is one. Names without a secret are common in programs and documents. */
export function isSecretValue(value: string, form: ValueForm): boolean {
  if (value === '' || value === REDACTED || value.trim() === '') return false;
  if (ELSEWHERE.test(value) || NO_VALUES.has(value.toLowerCase())) return false;
  if (form.header) return value.length >= 3;
  if (form.quoted) return form.quotedName ? !isProse(value) : value.length >= 4 && !/\s/.test(value);
  if (isReference(value, form.next)) return false;
  if (form.tight) return true;
  return (value.length >= 6 && /[\d!@#$%^&*+/=~-]/.test(value)) || value.length >= 20;
}

/** A name in a program rather than a value: a call, an element, or something that is itself named like a secret. */
function isReference(value: string, next: string): boolean {
  return REFERENCE.test(value) && (next === '(' || next === '[' || (NAMED_LIKE_A_SECRET.test(value) && !/\d/.test(value)));
}

/** `"password": "Enter your password"`, as in translations and schemas. */
function isProse(value: string): boolean {
  return /\s/.test(value) && !/\d/.test(value);
}

/** Start of the credentials of an Authorization header, behind `Bearer `. 0 without a scheme. */
export function schemeEnd(value: string): number {
  return /^[A-Za-z][A-Za-z0-9-]{1,20} +/.exec(value)?.[0].length ?? 0;
}
