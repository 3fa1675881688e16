/** A size, and what to do about something larger. */
interface Size {
  readonly bytes: number;
  readonly hint: string;
}

/** How commands are answered. */
export interface CommandForm {
  timedOut?(ms: number): string;
  /** The whole text of a command that ended with another code than 0. Absent: the output, then the code. */
  failed?(code: number, output: string): string;
  /** So much of each stream is kept, bytes, and what stands behind what was cut off. Absent: the tool's own limit, and the sizes. */
  readonly stream?: { readonly bytes: number; cut(stream: string): string };
}

/** How much of a file is read at once. */
export interface FileForm {
  readonly image?: Size;
  readonly text?: Size;
  /** A file larger than this is refused unless it is asked for in part. */
  readonly whole?: Size;
  /** So much text comes at once, in whole lines, and what stands below it; 1-based lines of the file. */
  readonly cut?: { readonly bytes: number; note(first: number, last: number, total: number): string };
}

/** What is known of a fetched page, and the part of it that is shown. */
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

/** Texts and sizes that answers have instead of the tool's own. What is absent is as the tool has it. */
export interface AnswerForm {
  readonly commands?: CommandForm;
  readonly files?: FileForm;
  fetched?(facts: FetchedFacts, body: string, format: string | undefined): string;
}
