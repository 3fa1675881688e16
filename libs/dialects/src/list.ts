// Written by `npm run generate` from the files libs/dialects/src/*.dialect.ts.
import { dialect as claudeCode } from './claude-code.dialect.js';
import { dialect as kiro } from './kiro.dialect.js';
import { dialect as oxydra } from './oxydra.dialect.js';
import { dialect as phi } from './phi.dialect.js';
import { dialect as zeroclaw } from './zeroclaw.dialect.js';

export const LIST = [claudeCode, kiro, oxydra, phi, zeroclaw] as const;
