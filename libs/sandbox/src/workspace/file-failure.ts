import { ToolError } from '#tool-sdk';

const MEANINGS: Readonly<Record<string, string>> = {
  ENOENT: 'File not found',
  EACCES: 'Permission denied',
  EPERM: 'Permission denied',
  ENOTDIR: 'Not a directory',
  EISDIR: 'Is a directory, not a file',
  ELOOP: 'Too many symbolic links',
  ENAMETOOLONG: 'The path is too long',
  EINVAL: 'Not a usable name',
  ENOSPC: 'No space left in the workspace',
  EDQUOT: 'No space left in the workspace',
  EROFS: 'The workspace is read-only',
  EMFILE: 'Too many open files on this worker, try again',
  ENXIO: 'Not a regular file',
};

/** An error of the file system as the model may see it: by its code, with the workspace's path instead of the machine's. */
export function fileFailure(error: unknown, shown: string, hint = ''): ToolError {
  if (error instanceof ToolError) return error;
  const code = errorCode(error) ?? 'unknown error';
  const retryable = code === 'EMFILE' || code === 'EAGAIN' || code === 'EBUSY';
  return new ToolError(
    'tool_failed',
    `${MEANINGS[code] ?? `Cannot access (${code})`}: ${shown}${hint && code === 'ENOENT' ? `. ${hint}` : ''}`,
    { cause: error, retryable },
  );
}

export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
