import { createAnsiSequenceParser, createColorPalette, type Color, type ParseToken } from 'ansi-sequence-parser';

/** A run of text in one style. Styles come from a closed set, never from a string of the output. */
export interface Span {
  readonly text: string;
  readonly style: SpanStyle;
}

export interface SpanStyle {
  /** A name of the theme's palette (`red`, `brightBlue`) or `#rrggbb`. */
  readonly color?: string;
  readonly background?: string;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
}

const palette = createColorPalette();

/**
 * Terminal commands other than colours: titles, links, cursor movement, clearing, device queries, character sets (ECMA-48).
 * Removed before colours are parsed.
 * OSC, DCS, SOS, PM and APC end with BEL or ST, or with the line.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const COMMANDS = /\u001b(?:[\]PX^_].*?(?:\u0007|\u001b\\|$)|\[[0-?]*[ -/]*(?!m)[@-~]|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])|\u009b[0-?]*[ -/]*[@-~]/g;

/** An escape that is not a colour, after the commands are out. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const STRAY_ESCAPE = /\u001b(?!\[[0-9;]+m)/g;

/** Remaining control characters, and characters that change the direction of text. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Characters that need parsing; a text without them is shown unchanged. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const NOT_PLAIN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

export function isPlain(line: string): boolean {
  return !NOT_PLAIN.test(line);
}

const REPLACEMENT = '\ufffd';

export type LineParser = (line: string) => Span[];

/** Parses lines in order; colours continue over line ends, as in a terminal. `\r` rewrites its line, as progress bars do. */
export function createLineParser(): LineParser {
  const parser = createAnsiSequenceParser();
  return (line) => {
    const colours = line.replace(COMMANDS, '').replaceAll('\u001b[m', '\u001b[0m').replace(STRAY_ESCAPE, REPLACEMENT);
    return lastWriting(parser.parse(colours).map((token) => ({ text: token.value, style: styleOf(token) })));
  };
}

/** Text without terminal commands and colours. */
export function plainText(text: string): string {
  const parse = createLineParser();
  return text
    .split('\n')
    .map((line) => textOf(parse(line)))
    .join('\n');
}

export function textOf(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join('');
}

/** The last content of a rewritten line; a `\r` at its end rewrites nothing. */
function lastWriting(spans: readonly Span[]): Span[] {
  const kept: Span[] = [];
  const last = spans.findLastIndex(({ text }) => /[^\r]/.test(text));
  for (const [index, span] of spans.entries()) {
    if (index > last) break;
    const text = index === last ? span.text.replace(/\r+$/, '') : span.text;
    const cut = text.lastIndexOf('\r');
    if (cut >= 0) kept.length = 0;
    const shown = text.slice(cut + 1).replace(INVISIBLE, REPLACEMENT);
    if (shown !== '') kept.push({ text: shown, style: span.style });
  }
  return kept;
}

/** `hidden` is ignored: people who review an output must see all of it. */
function styleOf({ foreground, background, decorations }: ParseToken): SpanStyle {
  const [front, back] = decorations.has('reverse') ? [background, foreground] : [foreground, background];
  const color = colorOf(front);
  const behind = colorOf(back);
  return {
    // Without members for a plain text: `TerminalText` counts them.
    ...(color === undefined ? {} : { color }),
    ...(behind === undefined ? {} : { background: behind }),
    ...(decorations.has('bold') ? { bold: true } : {}),
    ...(decorations.has('dim') ? { dim: true } : {}),
    ...(decorations.has('italic') ? { italic: true } : {}),
    ...(decorations.has('underline') ? { underline: true } : {}),
    ...(decorations.has('strikethrough') ? { strike: true } : {}),
  };
}

function colorOf(color: Color | null): string | undefined {
  switch (color?.type) {
    case undefined:
      return undefined;
    case 'named':
      return color.name;
    case 'table':
      return color.index >= 0 && color.index <= 255 ? palette.value({ ...color, index: Math.trunc(color.index) }) : undefined;
    case 'rgb':
      return `#${color.rgb.map((part) => Math.min(255, Math.max(0, part)).toString(16).padStart(2, '0')).join('')}`;
  }
}
