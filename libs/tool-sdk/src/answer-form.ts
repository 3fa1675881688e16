/** Largest size, with a hint for larger content. */
interface Size {
  readonly bytes: number;
  readonly hint: string;
}

/** Form of the results of commands. */
export interface CommandForm {
  timedOut?(ms: number): string;
  /** The whole text of a command that ended with another code than 0. Absent: the output, then the code. */
  failed?(code: number, output: string): string;
  /** Most bytes of each stream, and the note behind truncated output. Default: the tool's own limit, with the sizes. */
  readonly stream?: { readonly bytes: number; cut(stream: string): string };
}

/** Limits for reading a file at once. */
export interface FileForm {
  readonly image?: Size;
  readonly text?: Size;
  /** Largest file that may be read as a whole. */
  readonly whole?: Size;
  /** Most bytes of text at once, in whole lines, and the note below; 1-based lines of the file. */
  readonly cut?: { readonly bytes: number; note(first: number, last: number, total: number): string };
}

/** Facts of a fetched page, and the shown part. */
export interface FetchedFacts {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly contentLength?: number;
  readonly title?: string;
  readonly mode: string;
  readonly truncated: boolean;
  readonly note?: string;
}

/** Texts and sizes that replace the tool's own. Absent fields keep the tool's own. */
export interface AnswerForm {
  readonly commands?: CommandForm;
  readonly files?: FileForm;
  fetched?(facts: FetchedFacts, body: string, format: string | undefined): string;
}
