import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { escapeInvisible, invisiblePieces, lookAlikes } from '#subject';
import { VisibleText } from '../components/visible-text.js';
import { useTokens, type CodeToken } from './highlight.js';
import type { RiskyPart } from './risky-parts.js';
import classes from './subject.module.css';

interface CodeBlockProps {
  readonly code: string;
  /** Language, by its name in highlight.js. */
  readonly language: string;
  readonly label: string;
  readonly writtenOut: boolean;
  /** Findings of rules about parts of the code, in order and without overlaps. */
  readonly parts?: readonly RiskyPart[];
}

/** Code as its author wrote it, line by line; hidden characters are chips and doubtful names marked, with a warning below. */
export function CodeBlock({ code, language, label, writtenOut, parts = [] }: CodeBlockProps) {
  const hidden = invisiblePieces(code, writtenOut).some((piece) => 'codePoint' in piece);
  const doubtful = lookAlikes(code).length > 0;
  // Colours would cut a doubtful name into pieces, each of which is fine.
  const tokens = useTokens(code, hidden || doubtful ? 'none' : language);
  return (
    <div className={classes['block']}>
      <pre className={classes['code']} tabIndex={0} aria-label={label} role="region">
        <code>
          {piecesOf(tokens, parts).map(({ text, token, part }, index) => (
            <CodePiece key={index} text={text} token={token} part={part} writtenOut={writtenOut} />
          ))}
        </code>
      </pre>
      <CopyButton value={code}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : 'Copy'}>
            <ActionIcon className={classes['copy']} size="sm" variant="default" aria-label={`Copy ${label}`} onClick={copy}>
              {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
      {hidden && <p className={classes['warning']}>It has characters that are not seen, or that show it in another order than it runs.</p>}
      {doubtful && <LookAlikeWarning />}
    </div>
  );
}

export function LookAlikeWarning() {
  return <p className={classes['warning']}>A marked name mixes alphabets or is in punycode: it may not be what it looks like.</p>;
}

/** A marked piece has the words of the rules as its title, which the reasons of the decision repeat. */
function CodePiece({ text, token, part, writtenOut }: MarkedPiece & { readonly writtenOut: boolean }) {
  const shown = <VisibleText text={text} writtenOut={writtenOut} />;
  if (part === undefined) return <span data-token={token}>{shown}</span>;
  return (
    <mark className={classes['risky']} data-token={token} title={part.seenBy.map(escapeInvisible).join('\n')}>
      {shown}
    </mark>
  );
}

/** A piece of code that is of one token and all in a marked part, or all outside. */
interface MarkedPiece extends CodeToken {
  readonly part?: RiskyPart | undefined;
}

/** Tokens, cut where a part begins or ends. `parts` are in order and do not overlap. */
function piecesOf(tokens: readonly CodeToken[], parts: readonly RiskyPart[]): readonly MarkedPiece[] {
  if (parts.length === 0) return tokens;
  let start = 0;
  return tokens.flatMap(({ text, token }) => {
    const [from, to] = [start, start + text.length];
    start = to;
    const cuts = parts.flatMap((part) => [part.from, part.to]).filter((cut) => cut > from && cut < to);
    return [from, ...cuts].map((begin, index) => ({
      text: text.slice(begin - from, (cuts[index] ?? to) - from),
      token,
      part: parts.find((part) => part.from <= begin && begin < part.to),
    }));
  });
}
