/** A value of the archive differs from what was written: changed, cut, or of another format. */
export class ArchiveCorrupt extends Error {
  override readonly name = 'ArchiveCorrupt';

  /** @param line counted from 1, where the fault is in one line of the file */
  constructor(
    readonly file: string,
    readonly fault: string,
    readonly line?: number,
    options?: ErrorOptions,
  ) {
    super(`${line === undefined ? file : `${file}, line ${line}`}: ${fault}`, options);
  }
}

/** A name has other content. Sealing continues only in a new generation. */
export class ArchiveConflict extends Error {
  override readonly name = 'ArchiveConflict';

  constructor(
    readonly file: string,
    fault: string,
  ) {
    super(`${file}: ${fault}`);
  }
}

/** The address of an archive is wrong, or its store lacks a required feature. The message names the fix. */
export class ArchiveUnusable extends Error {
  override readonly name = 'ArchiveUnusable';
}
