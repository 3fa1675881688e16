// Cycles between folders of one app or library. Apart from .dependency-cruiser.cjs, since the tests beside the code would count.
const { options } = require('../.dependency-cruiser.cjs');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-folder-cycles',
      comment: 'Folders that import each other are one folder: neither can be read, tested or moved alone.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    ...options,
    // libs/contracts is not held to it yet: its schemas still refer to each other across folders.
    exclude: { path: ['^dist/', '^libs/contracts/', '\\.(spec|contract)\\.ts$', '/testing/'] },
    doNotFollow: { path: ['node_modules', '^dist/'] },
  },
};
