import type { JsonValue } from '#contracts';
import { maskSecrets, type ContentSanitizer, type MaskedValue, type Redactor } from '#redaction';

/** Redaction of the content of one tenant's calls, and the digest by which workers load the settings. Immutable. */
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

  /** Arguments with placeholders, for hooks that may not see secrets, and the way to restore them in the hooks' output. */
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

  /** Settings in the form for administrative acts. */
  withoutSecrets(settings: object): JsonValue {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was JSON text a moment ago
    return this.redactor.json(JSON.parse(JSON.stringify(settings)) as JsonValue).value;
  }

  /** Redacts a person's text about a call. */
  text(text: string): string {
    return this.safety.text(text);
  }
}
