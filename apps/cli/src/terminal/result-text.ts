import type { Content, Result } from '#contracts';
import { safeText } from './safe-text.js';

/** Content as a person reads it. */
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
      return `[image ${part.mimeType}, ${Math.round((part.data.length * 3) / 4 / 1024)} KiB]\n`;
    case 'resource_link':
      return `${part.name === undefined ? '' : `${part.name}: `}${part.uri}\n`;
    default:
      return part satisfies never;
  }
}

/**
 * What of a result has not been shown yet, when `shown` came as updates before. Tools put words around their output (an
 * exit code, a note that it was cut): only the lines that are new are left then. Updates keep colours that results have not.
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

/** With which a failed command's streams are told apart for a model. */
const STREAM_LABEL = /^(stdout|stderr):$/;
