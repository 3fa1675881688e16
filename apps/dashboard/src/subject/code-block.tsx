import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { invisiblePieces } from '#subject';
import { VisibleText } from '../components/visible-text.js';
import { useTokens } from './highlight.js';
import classes from './subject.module.css';

interface CodeBlockProps {
  readonly code: string;
  /** As highlight.js names it. */
  readonly language: string;
  readonly label: string;
  readonly writtenOut: boolean;
}

/** Code as its author wrote it, line by line; hidden characters are chips, with a warning below. */
export function CodeBlock({ code, language, label, writtenOut }: CodeBlockProps) {
  const hidden = invisiblePieces(code, writtenOut).some((piece) => 'codePoint' in piece);
  const tokens = useTokens(code, hidden ? 'none' : language);
  return (
    <div className={classes['block']}>
      <pre className={classes['code']} tabIndex={0} aria-label={label} role="region">
        <code>
          {tokens.map(({ text, token }, index) => (
            <span key={index} data-token={token}>
              <VisibleText text={text} writtenOut={writtenOut} />
            </span>
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
    </div>
  );
}
