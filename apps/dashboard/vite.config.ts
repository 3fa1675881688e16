import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A gateway for `npm run dashboard`: the page comes from Vite, everything else from there. */
const GATEWAY = process.env['GATEWAY_URL'] ?? 'http://127.0.0.1:7411';

export default defineConfig({
  root: here('.'),
  base: '/',
  // The sources of our own libraries, as everywhere else (`imports` in package.json).
  resolve: {
    conditions: ['source', 'module', 'browser', 'development|production'],
    // A helper for tests in the forms' library asks for a validator that makes code from schemas; ours does not.
    alias: { '@rjsf/validator-ajv8': here('src/components/form-validator.ts') },
  },
  build: {
    outDir: here('../../dist/apps/dashboard'),
    emptyOutDir: true,
    target: 'es2023',
    // Browsers with light-dark(), nesting and color-mix(); for older ones the CSS would be rewritten for one ground only.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    // Nothing inline: the page's Content-Security-Policy lets in files of this gateway only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      // `no-eval.ts` must run before any chunk with schemas: it is in the chunk that all of these import.
      output: { codeSplitting: { groups: [{ name: 'zod', test: /node_modules\/zod\/|src\/no-eval\.ts$/ }] } },
      // Marks for servers that render React; there is none here.
      onwarn: (warning, tell) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || tell(warning),
    },
  },
  server: { proxy: { '/v1': { target: GATEWAY, ws: true, changeOrigin: true } } },
});
