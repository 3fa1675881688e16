import type { ToolError } from '#tool-sdk';
import { errorCode, fileFailure } from './file-failure.js';
import { nearPaths } from './near-paths.js';
import type { ResolvedFile } from './resolved-file.js';

/** File system error about a path of the model. For a missing path: the hint, and near paths. */
export async function pathFailure(error: unknown, place: ResolvedFile, hint: string): Promise<ToolError> {
  const { displayPath } = place.path;
  if (errorCode(error) !== 'ENOENT') return fileFailure(error, displayPath);
  const near = await nearPaths(place);
  return fileFailure(error, displayPath, near.length > 0 ? `${hint} Did you mean ${near.join(', ')}?` : hint);
}

/** The same, where it was found out otherwise that nothing is there. */
export async function missingFile(place: ResolvedFile, hint: string): Promise<ToolError> {
  return pathFailure({ code: 'ENOENT' }, place, hint);
}
