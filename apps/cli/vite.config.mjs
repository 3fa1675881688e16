// The command line tool as a few files: Node reads them in half the time of the 390 that it is written in, for each command.
// Parts of the servers, which few commands need, come from dist/ when one of these runs.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const LATER = /^#(?!client\b|contracts$|subject$)/;

export default defineConfig({
  root: here('../..'),
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: true,
    target: 'node20',
    outDir: here('../../dist/cli'),
    emptyOutDir: true,
    copyPublicDir: false,
    minify: false,
    rolldownOptions: {
      input: { main: here('../../dist/apps/cli/src/main.js') },
      external: (id) => LATER.test(id),
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});
