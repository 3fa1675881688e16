import { codeText, markedPieces } from '#subject';
import classes from './visible-text.module.css';

const NAMES: Readonly<Record<number, string>> = {
  0x1b: 'escape',
  0xad: 'soft hyphen',
  0x200b: 'zero-width space',
  0x200c: 'zero-width non-joiner',
  0x200d: 'zero-width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'end of a direction',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'end of an isolate',
  0xfeff: 'byte order mark',
};

function nameOf(codePoint: number): string {
  if (codePoint >= 0xe0000) return 'tag character';
  return NAMES[codePoint] ?? (codePoint < 0xa0 ? 'control character' : 'hidden character');
}

interface VisibleTextProps {
  readonly text: string;
  /** Hidden characters may be written as `\u{202E}`. */
  readonly writtenOut?: boolean;
}

/**
 * Untrusted text; each character that hides or reorders text is a chip with its code and name, and a name that may not be what it
 * looks like has a chip with the reason behind it.
 */
export function VisibleText({ text, writtenOut = false }: VisibleTextProps) {
  return (
    <>
      {markedPieces(text, writtenOut).map((piece, index) => {
        if ('text' in piece) return piece.text;
        if ('codePoint' in piece)
          return (
            <span key={index} className={classes.chip} data-hidden={codeText(piece.codePoint)}>
              {codeText(piece.codePoint)} {nameOf(piece.codePoint)}
            </span>
          );
        return (
          <span key={index} data-look-alike={piece.lookAlike}>
            <span className={classes.doubtful}>{piece.lookAlike}</span>
            <span className={classes.chip}>{piece.note}</span>
          </span>
        );
      })}
    </>
  );
}
