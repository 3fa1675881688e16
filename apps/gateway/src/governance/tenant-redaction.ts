import type { JsonValue } from '#contracts';
import { maskSecrets, type ContentSanitizer, type MaskedValue, type Redactor } from '#redaction';

/** How content of the calls of one tenant is redacted, and the digest by which workers find the settings. Immutable. */
export class TenantRedaction {
  constructor(
    private readonly safety: ContentSanitizer,
    /** Undefined for the defaults, which workers have. */
    readonly settingsDigest: string | undefined,
  ) {}

  get redactor(): Redactor {
    return this.safety.redactor;
  }

  /** Redacts texts about a call, including the secrets of its arguments. `cut`: the text is the beginning of a longer one. */
  redactorFor(args: JsonValue): (text: string, cut?: boolean) => string {
    const safety = this.safety.withSecrets(this.redactor.json(args).secrets);
    return (text, cut = false) => (cut ? safety.truncatedText(text) : safety.text(text));
  }

  /** The arguments with placeholders, for hooks that may not see secrets, and how to restore what they return. */
  masked(args: JsonValue): MaskedValue {
    return maskSecrets(this.redactor, args);
  }

  holdsSecrets(value: object): boolean {
    return this.safety.findSecrets(value).length > 0;
  }

  /** Redacts a name that the caller chose, such as its Idempotency-Key. */
  identifier(name: string): string {
    return this.redactor.identifier(name);
  }

  /** Settings as administrative acts show them. */
  withoutSecrets(settings: object): JsonValue {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was JSON text a moment ago
    return this.redactor.json(JSON.parse(JSON.stringify(settings)) as JsonValue).value;
  }

  /** Redacts what a person writes about a call. */
  text(text: string): string {
    return this.safety.text(text);
  }
}
