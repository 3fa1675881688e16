import { Anchor, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import type { Content } from '#contracts';
import { escapeInvisible } from '#subject';
import { Json } from '../components/json.js';
import { LogView } from './log/log-view.js';
import { linesOf } from './log/terminal-text.js';

/** Raster images only. SVG can contain scripts and links: it is shown as text. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp']);
/** Audio types that browsers play without further code. */
const SOUNDS: ReadonlySet<string> = new Set(['audio/wav', 'audio/mpeg', 'audio/ogg', 'audio/webm', 'audio/mp4', 'audio/flac', 'audio/aac']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The content of a result. It is untrusted: text is never markup, images are raster only, audio waits for a click, links show their address. */
export function ContentView({ content, atEnd = false }: { readonly content: readonly Content[]; readonly atEnd?: boolean }) {
  return (
    <Stack gap="sm">
      {content.map((piece, index) => (
        <Piece key={index} piece={piece} atEnd={atEnd} />
      ))}
    </Stack>
  );
}

function Piece({ piece, atEnd }: { readonly piece: Content; readonly atEnd: boolean }) {
  switch (piece.type) {
    case 'text':
      return <TextPiece text={piece.text} atEnd={atEnd} />;
    case 'json':
      return <Json value={piece.json} label="JSON content" />;
    case 'image':
      return <Picture data={piece.data} mimeType={piece.mimeType} />;
    case 'audio':
      return <Sound data={piece.data} mimeType={piece.mimeType} />;
    case 'resource':
      return <Embedded resource={piece.resource} />;
    case 'resource_link':
      return (
        <Text size="sm">
          {escapeInvisible(piece.title ?? piece.name ?? 'Resource')}: <SafeLink uri={piece.uri} />
          {piece.description !== undefined && (
            <Text span size="sm" c="dimmed">
              {' '}
              {escapeInvisible(piece.description)}
            </Text>
          )}
        </Text>
      );
  }
}

function TextPiece({ text, atEnd = false }: { readonly text: string; readonly atEnd?: boolean }) {
  const lines = useMemo(() => linesOf(text), [text]);
  return text === '' ? (
    <Text size="sm" c="dimmed">
      (empty text)
    </Text>
  ) : (
    <LogView lines={lines} label="Text" dropped={lines.dropped} atEnd={atEnd} />
  );
}

function Picture({ data, mimeType }: { readonly data: string; readonly mimeType: string }) {
  if (!PICTURES.has(mimeType) || !BASE64.test(data))
    return (
      <Text size="sm" c="dimmed">
        A picture of the kind {escapeInvisible(mimeType)} ({data.length.toLocaleString()} characters of base64), which is not shown.
      </Text>
    );
  return (
    <img src={`data:${mimeType};base64,${data}`} alt={`Made by the tool (${mimeType})`} style={{ maxWidth: '100%', maxHeight: 480 }} />
  );
}

function Sound({ data, mimeType }: { readonly data: string; readonly mimeType: string }) {
  if (!SOUNDS.has(mimeType) || !BASE64.test(data))
    return (
      <Text size="sm" c="dimmed">
        Audio of the kind {escapeInvisible(mimeType)} ({data.length.toLocaleString()} characters of base64), which is not played.
      </Text>
    );
  // oxlint-disable-next-line jsx-a11y/media-has-caption -- a tool gives no captions
  return <audio controls preload="none" src={`data:${mimeType};base64,${data}`} aria-label={`Audio made by the tool (${mimeType})`} />;
}

function Embedded({ resource }: { readonly resource: Extract<Content, { type: 'resource' }>['resource'] }) {
  const { uri, mimeType } = resource;
  const kind = mimeType === undefined ? '' : ` (${escapeInvisible(mimeType)})`;
  return (
    <Stack gap={4}>
      <Text size="sm">
        Resource <SafeLink uri={uri} />
        {kind}
      </Text>
      {'text' in resource ? (
        <TextPiece text={resource.text} />
      ) : (
        <Text size="sm" c="dimmed">
          {resource.blob.length.toLocaleString()} characters of base64, which are not shown.
        </Text>
      )}
    </Stack>
  );
}

/** A link for `http(s)` only, with its full address as text. */
export function SafeLink({ uri }: { readonly uri: string }) {
  const shown = escapeInvisible(uri);
  if (!/^https?:\/\//i.test(uri) || !URL.canParse(uri))
    return (
      <Text span ff="monospace" size="sm">
        {shown}
      </Text>
    );
  return (
    <Anchor href={uri} target="_blank" rel="noopener noreferrer nofollow" size="sm" ff="monospace">
      {shown}
    </Anchor>
  );
}
