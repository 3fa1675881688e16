import { Checkpointer, ensureSigningKey, openArchive, readSigningKey, type ArchiveStore } from '#archive';
import { StartupError } from '#platform';
import { partitionName } from '#redis';
import type { ProjectorConfig } from './projector.config.js';

/** Signs the archive with the key of the config, which is made at the first start. Undefined without one. @throws StartupError */
export async function openCheckpointer(config: ProjectorConfig, store: ArchiveStore): Promise<Checkpointer | undefined> {
  const { signingKeyFile, checkpointUrl, partitions } = config;
  if (signingKeyFile === undefined) return undefined;
  try {
    await ensureSigningKey(signingKeyFile);
    const signer = await readSigningKey(signingKeyFile);
    const publishTo = checkpointUrl === undefined ? undefined : await openArchive(checkpointUrl);
    return new Checkpointer({
      store,
      signer,
      publishTo,
      partitions: Array.from({ length: partitions }, (_, index) => partitionName(index)),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new StartupError(`The archive cannot be signed: ${message}. Correct ARCHIVE_SIGNING_KEY_FILE or CHECKPOINT_URL.`, {
      cause: error,
    });
  }
}
