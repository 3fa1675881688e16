import { z } from 'zod';

/** Address of the archive, required by all processes that read calls. */
export const ARCHIVE_ENV = {
  ARCHIVE_URL: z
    .string()
    .regex(/^(file:.+|s3:\/\/[^/]+.*)$/, 'expected file:///folder, file:folder or s3://bucket/prefix')
    .optional()
    .meta({
      description:
        'Archive of events, calls and large values that leave Redis; gateways, workers and projectors need the same one. Not set: nothing leaves Redis.',
      shownDefault: 'none; standalone: `archive` in `TOOLYARD_DATA`',
    }),
};
