import type { Content, DialectHints, Dialect as DialectName } from '#contracts';
import type { Arguments, Dialect, Refusal, Rendered, RenderedObject } from './dialect.js';
import { viewOf } from './views.js';
import { dialectOf, isCanonical } from './dialects.js';
import { inOwnNames } from './own-names.js';

/** Call in the names of a dialect, stored with the canonical call. */
export interface DialectForm {
  readonly dialect: Exclude<DialectName, 'core'>;
  /** Tool name in the submission. */
  readonly name: string;
  readonly hints: DialectHints;
}

export interface ReturnedOutput {
  readonly content: readonly Content[];
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly details?: Arguments;
  readonly data?: Arguments;
}

export interface ReturnedFacts {
  readonly args: Arguments;
  readonly tookMs: number;
  readonly toolCallId: string | undefined;
  readonly redact: (text: string, truncated?: boolean) => string;
}

type RenderedContent = RenderedObject & { readonly content: readonly Content[] };

/** Text of an output for a model that uses the dialect. */
export function renderOutput(
  { dialect: dialectName, name, hints }: DialectForm,
  { content, isError = false, details = {}, data = {} }: ReturnedOutput,
  { args, tookMs, toolCallId, redact }: ReturnedFacts,
): RenderedContent {
  const dialect = dialectOf(dialectName);
  const facts = { ...details, ...data };
  const text = textOf(content);
  const cut = (whole: string, bytes: number, suffix: string): string =>
    Buffer.byteLength(whole) <= bytes ? whole : redact(firstBytes(whole, bytes), true) + suffix;
  const own = viewOf(dialectName).find(name);
  const plain = { content, isError };
  const rendered =
    own?.result === undefined ? plain : completed(own.result({ args, hints, content, text, isError, facts, tookMs, toolCallId, cut }));
  return dialect.finish === undefined ? rendered : completed(dialect.finish(rendered));
}

/** The text of a call that did not come to a result. */
export function renderRefusal({ dialect: dialectName, name }: Pick<DialectForm, 'dialect' | 'name'>, refusal: Refusal): string {
  const dialect: Dialect = dialectOf(dialectName);
  if (refusal.code === 'not_found') {
    const { near = viewOf(dialectName).suggest(name) } = refusal;
    return `${dialect.unknown(name)}${near.length > 0 ? `\nDid you mean: ${near.join(', ')}?` : ''}`;
  }
  const view = viewOf(dialectName);
  const tool = view.find(name);
  const message = inOwnNames(refusal.message, isCanonical, (meant) => view.nameOf(meant));
  return tool?.refusal === undefined ? dialect.refusal(name, { ...refusal, message }) : tool.refusal({ ...refusal, message });
}

export function textOf(content: readonly Content[]): string {
  return content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n');
}

function completed(rendered: Rendered): RenderedContent {
  if (typeof rendered === 'string') return { content: [{ type: 'text', text: rendered }], isError: false };
  const { content, isError = false, ...rest } = rendered;
  return { ...rest, isError, content: typeof content === 'string' ? [{ type: 'text', text: content }] : content };
}

/** Prefix of at most `bytes` bytes of UTF-8, without a partial character. */
function firstBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}
