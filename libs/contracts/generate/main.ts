import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedSchemas } from './schemas.js';

/** `npm run generate`: writes libs/contracts/schemas from the zod schemas. Run from the top of the project. */
const folder = join('libs', 'contracts', 'schemas');
mkdirSync(folder, { recursive: true });
for (const [name, text] of publishedSchemas()) writeFileSync(join(folder, name), text);
