import { z } from 'zod';
import { SETTING_TYPES } from '../sources/source.js';

/** Most bytes of one uploaded bundle. */
export const BUNDLE_UPLOAD_BYTES = 33_554_432;

export const BundleSetting = z
  .object({
    name: z.string().describe('The name in `config` of the source.'),
    type: z.enum(SETTING_TYPES).describe('Of its value. A source that is added over HTTP cannot set a `directory` or `file`.'),
    title: z.string().optional().describe('What people call it.'),
    description: z.string().optional().describe('What it is for, as the bundle says.'),
    required: z.boolean().describe('The server does not start without it.'),
    sensitive: z.boolean().describe('A secret: its value is a reference such as `{"secretEnv": "NAME"}`.'),
    multiple: z.boolean().describe('It takes a list of values.'),
    default: z
      .union([z.string(), z.number(), z.boolean(), z.array(z.string())])
      .optional()
      .describe('Used where `config` does not set it.'),
    min: z.number().optional().describe('Least number.'),
    max: z.number().optional().describe('Greatest number.'),
  })
  .meta({ id: 'BundleSetting', description: 'A setting of a bundle, as its `user_config` has it.' });
export type BundleSetting = z.output<typeof BundleSetting>;

export const UploadedBundle = z
  .object({
    sha256: z.string().describe('Digest of the file, for `bundle.sha256` of a source.'),
    bytes: z.number().int().describe('Size of the file.'),
    name: z.string().describe('As the bundle calls itself.'),
    version: z.string().describe('As the bundle says.'),
    description: z.string().optional().describe('As the bundle says.'),
    settings: z.array(BundleSetting).describe('What `bundle.config` of a source may, or must, set.'),
  })
  .meta({ id: 'UploadedBundle', description: 'An uploaded MCP bundle.' });
export type UploadedBundle = z.output<typeof UploadedBundle>;
