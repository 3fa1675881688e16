import type { Content, Result } from '#contracts';
import { safeText } from './safe-text.js';

/** Content as text for a terminal. */
export function contentText(content: readonly Content[]): string {
  return content.map(partText).join('');
}

function partText(part: Content): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'json':
      return `${JSON.stringify(part.json, null, 2)}\n`;
    case 'image':
    case 'audio':
      return `[${part.type} ${part.mimeType}, ${kibibytes(part.data)} KiB]\n`;
    case 'resource': {
      const { resource } = part;
      if ('text' in resource) return `${resource.uri}:\n${resource.text}\n`;
      return `${resource.uri}: [${resource.mimeType ?? 'binary'}, ${kibibytes(resource.blob)} KiB]\n`;
    }
    case 'resource_link':
      return `${part.name === undefined ? '' : `${part.name}: `}${part.uri}\n`;
    default:
      return part satisfies never;
  }
}

function kibibytes(base64: string): number {
  return Math.round((base64.length * 3) / 4 / 1024);
}

/**
 * The part of a result that was not shown yet; `shown` is the text of the updates. Tools add lines to their output, such as an
 * exit code: then the new lines are returned. Updates have colours that results have not.
 */
export function omittedContent(result: Result, shown: string): string {
  const whole = contentText(result.content);
  const [said, plain] = [safeText(shown), safeText(whole)];
  if (said.trim() === '') return whole;
  if (plain.startsWith(said)) return plain.slice(said.length);
  if (result.truncated) return '';
  const known = new Set(said.split('\n'));
  return plain
    .split('\n')
    .filter((line) => !known.has(line) && !STREAM_LABEL.test(line))
    .join('\n');
}

/** The labels of the streams in the result of a failed command. */
const STREAM_LABEL = /^(stdout|stderr):$/;
