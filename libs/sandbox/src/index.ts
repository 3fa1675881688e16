export { EgressError } from './egress/egress-error.js';
export { EgressPolicy } from './egress/egress-policy.js';
export { egressPolicyFrom, traceHostsFrom } from './egress/egress.config.js';
export { type FetchedDocument, SafeFetch } from './egress/safe-fetch.js';
export { TraceHosts } from './egress/trace-hosts.js';
export { findExecutable } from './process/find-executable.js';
export { cutToBytes } from './process/output-capture.js';
export { type ResourceLimits, limitWords } from './process/resource-limits.js';
export { type CapturedOutput, type ProcessCommand, type ProcessReport, ProcessStartError, runProcess } from './process/run-process.js';
export { BubblewrapSandbox } from './sandbox/bubblewrap-sandbox.adapter.js';
export { DEFAULT_LIMITS, SEARCH_LIMITS } from './sandbox/default-limits.js';
export { DisabledSandbox as NoneSandbox } from './sandbox/disabled-sandbox.adapter.js';
export { NoSandbox as HostSandbox } from './sandbox/no-sandbox.adapter.js';
export { viewOf } from './sandbox/sandbox-view.js';
export {
  SANDBOX_ENV,
  type SandboxConfig,
  sandboxConfig,
  validateSandboxConfig as sandboxContradictions,
} from './sandbox/sandbox.config.js';
export { Sandbox } from './sandbox/sandbox.port.js';
export { SandboxRegistry } from './sandbox/sandbox.registry.js';
export { changeFile } from './workspace/change-file.js';
export { deniedEntries } from './workspace/denied-files.js';
export { errorCode, fileFailure } from './workspace/file-failure.js';
export { decodeText, imageType } from './workspace/file-kind.js';
export { listTree } from './workspace/list-tree.js';
export { at, openBeneath, openDirectoryBeneath } from './workspace/open-beneath.js';
export { LockLost, withPathLock } from './workspace/path-lock.js';
export { type ResolvedFile as FilePlace, absoluteOf, resolveFile as filePlace, refuseDenied } from './workspace/resolved-file.js';
export { type Edit, applyEdit } from './workspace/text-edit.js';
export { type SizeLimit, openParent, readWorkspaceFile, replaceFile, statForWriting, tooLarge } from './workspace/workspace-file.js';
export { isWithin, parseWorkspacePath, pathNotAllowed } from './workspace/workspace-path.js';
export { type QuotaLimits, WorkspaceQuotas } from './workspace/workspace-quotas.js';
