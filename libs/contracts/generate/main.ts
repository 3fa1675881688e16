import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedSchemas } from './schemas.js';

/** Writes libs/contracts/schemas from the zod schemas (`npm run generate`). Must run in the project's root folder. */
const folder = join('libs', 'contracts', 'schemas');
mkdirSync(folder, { recursive: true });
for (const [name, text] of publishedSchemas()) writeFileSync(join(folder, name), text);
