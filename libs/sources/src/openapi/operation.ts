import type { JsonSchema } from '#contracts';
import type { Place, Written } from './parameter-style.js';

export const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const;
export type Method = (typeof METHODS)[number];

export interface Parameter extends Written {
  readonly in: Place;
  /** The argument that carries its value. */
  readonly argument: string;
  readonly required: boolean;
  /** It is written as JSON text, whatever its style. */
  readonly json: boolean;
  readonly schema: JsonSchema;
}

export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'binary';

export interface RequestBody {
  readonly argument: string;
  readonly mediaType: string;
  readonly kind: BodyKind;
  readonly required: boolean;
  readonly schema: JsonSchema;
  /** Properties of a multipart body that are files: base64 text. */
  readonly files: readonly string[];
  /** How properties of a form are written, and their content types in a multipart body. */
  readonly encoding: Readonly<
    Record<string, { readonly written: Written; readonly contentType: string | undefined; readonly styled: boolean }>
  >;
}

/** One operation of a document, complete: what the tool says, and what is needed to build its request. */
export interface Operation {
  /** Unique in the document. */
  readonly name: string;
  readonly method: Method;
  /** The template, which begins with `/`. */
  readonly path: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly tags: readonly string[];
  readonly label: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body: RequestBody | undefined;
  readonly input: JsonSchema;
}
