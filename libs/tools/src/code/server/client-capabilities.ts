import type { ClientCapabilities } from 'vscode-languageserver-protocol/node';

/** Client capabilities for responses. No snippets, no creation or renaming of files, no commands. */
export const CAPABILITIES: ClientCapabilities = {
  general: { positionEncodings: ['utf-16'] },
  workspace: {
    workspaceFolders: true,
    configuration: true,
    applyEdit: false,
    workspaceEdit: { documentChanges: true },
    didChangeWatchedFiles: { dynamicRegistration: true },
  },
  textDocument: {
    synchronization: {},
    definition: { linkSupport: true },
    references: {},
    hover: { contentFormat: ['markdown', 'plaintext'] },
    completion: { completionItem: { snippetSupport: false } },
    formatting: {},
    rename: {},
    publishDiagnostics: { versionSupport: true },
    diagnostic: {},
  },
  window: { workDoneProgress: true },
};
