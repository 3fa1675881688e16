// Written by `npm run generate` from the files libs/dialects/src/*.dialect.ts.
export const DIALECT_NAMES = ['claude-code', 'kiro', 'oxydra', 'phi', 'zeroclaw'] as const;
