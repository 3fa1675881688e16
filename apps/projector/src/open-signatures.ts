import { Checkpointer, DropSigner, ensureSigningKey, openArchive, readSigningKey, type ArchiveStore } from '#archive';
import { StartupError } from '#platform';
import { partitionNames } from '#redis';
import type { ProjectorConfig } from './projector.config.js';

/** Signers of the archive, for sealed and for dropped segments. */
export interface Signatures {
  readonly checkpointer: Checkpointer;
  readonly drops: DropSigner;
}

/** Opens the signers with the key of the config, which is created at the first start. Undefined without one. @throws StartupError */
export async function openSignatures(config: ProjectorConfig, store: ArchiveStore): Promise<Signatures | undefined> {
  const { signingKeyFile, checkpointUrl, partitions } = config;
  if (signingKeyFile === undefined) return undefined;
  try {
    await ensureSigningKey(signingKeyFile);
    const signer = await readSigningKey(signingKeyFile);
    const publishTo = checkpointUrl === undefined ? undefined : await openArchive(checkpointUrl);
    const names = partitionNames(partitions);
    return {
      checkpointer: new Checkpointer({ store, signer, publishTo, partitions: names }),
      drops: new DropSigner({ store, signer, publishTo }),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new StartupError(`The archive cannot be signed: ${message}. Correct ARCHIVE_SIGNING_KEY_FILE or CHECKPOINT_URL.`, {
      cause: error,
    });
  }
}
