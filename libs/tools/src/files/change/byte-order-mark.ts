const MARK = '\uFEFF';

/** A byte order mark, or nothing, and the text behind it: edits of the first line leave it where it is. */
export function splitMark(text: string): { readonly mark: string; readonly body: string } {
  return text.startsWith(MARK) ? { mark: MARK, body: text.slice(MARK.length) } : { mark: '', body: text };
}
