import { z } from 'zod';
import type { JsonValue } from '#contracts';
import type { AnswerForm } from '#tool-sdk';
import type { Refusal, RenderedObject } from './dialect.js';
import { reasonOf } from './texts.js';

export const count = z.number().int().min(0).max(1_000_000);

export function refusalText(refusal: Refusal): string {
  const said = reasonOf(refusal).replace(/^Invalid arguments:\s*/, '');
  switch (refusal.kind) {
    case 'schema':
      return `Failed to parse the tool use: The tool input does not match the tool schema: ${said}`;
    case 'semantic':
      return `Failed to parse the tool use: The tool arguments failed validation: ${said}`;
    case 'policy':
      return refusal.code === 'policy_denied' ? `Tool use was rejected because the arguments supplied are forbidden: ${said}` : said;
    case 'run':
      return said;
    default:
      return refusal.kind satisfies never;
  }
}

export function json(value: JsonValue): RenderedObject {
  return { content: [{ type: 'json', json: value }] };
}

export const KIRO_ANSWERS: AnswerForm = {
  commands: { stream: { bytes: Math.floor(400_000 / 3), cut: () => ' ... truncated' } },
  files: {
    image: { bytes: 10 * 1_048_576, hint: 'Only smaller images can be read.' },
    cut: {
      bytes: 250 * 1_024,
      // Lines are counted from 1 here, so the next one is asked for.
      note: (first, last, total) =>
        `\n...truncated (showing lines ${first}-${last} of ${total}). Use offset: ${last + 1} to continue reading.`,
    },
  },
};
