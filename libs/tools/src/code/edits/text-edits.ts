import { TextDocument } from 'vscode-languageserver-textdocument';
import { ToolError } from '#tool-sdk';
import type { AnswerEdit } from '../server/server-answers.js';
import { type PlannedChange, changedMeanwhile } from './change-files.js';

/** The change of a file that a server wants. `isAsSeen`: whether the text is that for which the server made its edits. */
export function plannedEdits(
  path: string,
  edits: readonly AnswerEdit[],
  serverName: string,
  isAsSeen: (text: string) => boolean | Promise<boolean>,
): PlannedChange {
  return {
    path,
    edits: edits.length,
    apply: async (text) => {
      if (!(await isAsSeen(text))) throw changedMeanwhile(path);
      const document = TextDocument.create('', '', 0, text);
      const isBeyond = edits.some(({ range }) => range.start.line > document.lineCount || range.end.line > document.lineCount);
      if (isBeyond) throw misfit(path, serverName, 'are beyond the end of the file');
      try {
        return TextDocument.applyEdits(document, [...edits]);
      } catch (error) {
        throw misfit(path, serverName, 'overlap', error);
      }
    },
  };
}

function misfit(path: string, serverName: string, why: string, cause?: unknown): ToolError {
  return new ToolError('tool_failed', `The edits of ${path} that the language server ${serverName} gave ${why}; no file was changed.`, {
    retryable: false,
    cause,
  });
}
