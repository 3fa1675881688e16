import { Anchor, Code, Text } from '@mantine/core';

/** Text of the document: code in backticks and links, the only Markdown in it; its lines are paragraphs. */
export function InlineText({ text, c = 'dimmed' }: { readonly text: string; readonly c?: string }) {
  return text.split(/\n+/).map((line, index) => (
    <Text key={index} size="sm" c={c} mb={4}>
      {line.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).map((piece, at) => (
        <Piece key={at} piece={piece} />
      ))}
    </Text>
  ));
}

function Piece({ piece }: { readonly piece: string }) {
  if (/^`.+`$/.test(piece)) return <Code>{piece.slice(1, -1)}</Code>;
  const [, label, to] = /^\[(.+)\]\((.+)\)$/.exec(piece) ?? [];
  if (label === undefined || to === undefined) return piece;
  return (
    <Anchor href={to.startsWith('http') ? to : `/${to}`} size="sm" underline="always">
      {label}
    </Anchor>
  );
}
