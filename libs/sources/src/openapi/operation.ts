import type { JsonSchema } from '#contracts';
import type { Place, Written } from './parameter-style.js';
import type { Slot } from './path-template.js';

/** Methods with a field of their own in documents. OpenAPI 3.2 adds `query`, and others as `additionalOperations`. */
export const METHODS = ['get', 'head', 'options', 'query', 'post', 'put', 'patch', 'delete', 'trace'] as const;

export interface Parameter extends Written {
  readonly in: Place;
  /** The argument that carries its value. */
  readonly argument: string;
  readonly required: boolean;
  /** True for a parameter written as JSON text, independent of its style. */
  readonly json: boolean;
  readonly schema: JsonSchema;
}

export type BodyKind = 'json' | 'lines' | 'form' | 'multipart' | 'text' | 'binary';

/** How a property of a form or a part of a multipart body is written. */
export interface PartEncoding {
  readonly written: Written;
  readonly contentType: string | undefined;
  /** The document says how, other than by default. */
  readonly styled: boolean;
  /** Headers of a part of a multipart body, with their values. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Multipart body of the part itself. */
  readonly nested?: MultipartBody | undefined;
}

export interface PositionalPart extends PartEncoding {
  readonly isFile: boolean;
}

/** Parts of a multipart body that is a list: the first ones, and all others. */
export interface PositionalParts {
  readonly first: readonly PositionalPart[];
  readonly rest: PositionalPart;
}

/** How the parts of a body are written, or those of one of its parts. */
export interface MultipartBody {
  /** Undefined for a binary body of any type: its first bytes say which. */
  readonly mediaType: string | undefined;
  /** Properties of a multipart body that are files: base64 text. */
  readonly files: readonly string[];
  readonly encoding: Readonly<Record<string, PartEncoding>>;
  /** Encoding of the items of a multipart body that is a list. */
  readonly parts?: PositionalParts | undefined;
}

export interface RequestBody extends MultipartBody {
  readonly argument: string;
  readonly kind: BodyKind;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** Operation of a document: the texts of the tool, and all facts needed to build its request. */
export interface Operation {
  /** Unique in the document. */
  readonly name: string;
  /** Method, in small letters if it is one of `METHODS`. */
  readonly method: string;
  /** Path in the document; begins with `/`. */
  readonly path: string;
  /** The path in parts, with the parameters in their places. */
  readonly template: readonly (string | (Slot & { readonly parameter: Parameter }))[];
  /** Base URL without a slash at the end. */
  readonly baseUrl: string;
  readonly tags: readonly string[];
  readonly label: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body: RequestBody | undefined;
  /** Media types of its answers, those that are read best first. */
  readonly accept: string;
  readonly input: JsonSchema;
}
