import type { SafetySettings, CallError, Content, Result, ToolDescriptor } from '#contracts';
import type { Json } from './json-value.js';
import { originOf } from './provenance.js';
import { Redactor } from './redactor.js';
import { sanitizeTruncated, sanitizeText, SanitizedTextStream } from './text/sanitized-text.js';

/** Secrets of this process, independent of the settings of calls. */
export interface ProcessSecrets {
  /** Texts that are secret in this process, as from its environment. */
  readonly values: readonly string[];
}

/** Cleans and redacts by the settings of `safety`. Immutable; one for all calls with the same settings. */
export class ContentSanitizer {
  private constructor(
    readonly settings: SafetySettings,
    readonly redactor: Redactor,
  ) {}

  static of(settings: SafetySettings, { values }: ProcessSecrets = { values: [] }): ContentSanitizer {
    const { redaction } = settings;
    const known = [...redaction.values, ...values].map((value) => value.trim());
    return new ContentSanitizer(
      settings,
      Redactor.of({ values: known.flatMap(encodingsOf), names: redaction.names, entropy: redaction.entropy, off: !redaction.enabled }),
    );
  }

  /** A sanitizer that also removes these secrets of the call's arguments from the output. */
  withSecrets(secrets: readonly string[]): ContentSanitizer {
    return secrets.length === 0 ? this : new ContentSanitizer(this.settings, this.redactor.withSecrets(secrets.flatMap(encodingsOf)));
  }

  findSecrets(args: object): readonly string[] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was written as JSON is JSON
    return this.redactor.json(JSON.parse(JSON.stringify(args)) as Json).secrets;
  }

  /** Text for models, people and logs. */
  text(text: string): string {
    return sanitizeText(text, this.redactor, this.settings.hiddenCharacters);
  }

  /** The same for the beginning of a text that was cut off. */
  truncatedText(text: string): string {
    return sanitizeTruncated(text, this.redactor, this.settings.hiddenCharacters);
  }

  /** Stream for watchers: pieces of a text, with colours. */
  stream(): SanitizedTextStream {
    return new SanitizedTextStream(this.redactor, this.settings.hiddenCharacters);
  }

  content(item: Content): Content {
    switch (item.type) {
      case 'text':
        return { ...item, text: this.text(item.text) };
      case 'json':
        return { type: 'json', json: this.json(item.json) };
      case 'image':
      case 'audio':
        return item;
      case 'resource': {
        const { resource } = item;
        const uri = this.text(resource.uri);
        return { ...item, resource: 'text' in resource ? { ...resource, uri, text: this.text(resource.text) } : { ...resource, uri } };
      }
      case 'resource_link': {
        const { uri, name, title, description } = item;
        return {
          ...item,
          uri: this.text(uri),
          ...(name === undefined ? {} : { name: this.text(name) }),
          ...(title === undefined ? {} : { title: this.text(title) }),
          ...(description === undefined ? {} : { description: this.text(description) }),
        };
      }
      default:
        return item satisfies never;
    }
  }

  json<T extends Json>(value: T): T {
    return this.redactor.mapTexts(value, (text) => this.text(text));
  }

  /** A result without secrets; `origin` marks it as untrusted content of that source. */
  result(result: Result, origin?: string): Result {
    const { structuredContent, details } = result;
    return {
      ...result,
      content: result.content.map((item) => this.content(item)),
      ...(structuredContent === undefined ? {} : { structuredContent: this.json(structuredContent) }),
      ...(details === undefined ? {} : { details: this.json(details) }),
      ...(origin === undefined ? {} : { provenance: { trust: 'untrusted', origin } }),
    };
  }

  error<E extends Pick<CallError, 'message'> & { readonly errors?: readonly { pointer: string; message: string }[] | undefined }>(
    error: E,
  ): E {
    const { errors } = error;
    return {
      ...error,
      message: this.text(error.message),
      ...(errors === undefined ? {} : { errors: errors.map(({ pointer, message }) => ({ pointer, message: this.text(message) })) }),
    };
  }

  /** The outside source of a tool's content; undefined when it is not from outside or is trusted. */
  untrustedOrigin(tool: ToolDescriptor, args: unknown): string | undefined {
    const { mark, trusted } = this.settings.provenance;
    const origin = mark ? originOf(tool, args, trusted) : undefined;
    return origin === undefined ? undefined : this.text(origin);
  }
}

/** A secret as written in JSON, URLs, Basic credentials and Markdown. */
function encodingsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const markdown = secret.replaceAll(/[\\_*[\]`]/g, String.raw`\$&`);
  const others = [JSON.stringify(secret).slice(1, -1), inUrl(secret), base64, markdown];
  return secret.length < 6 ? [secret] : [...new Set([secret, ...others])];
}

function inUrl(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    return secret; // Half a character, which no URL holds.
  }
}
