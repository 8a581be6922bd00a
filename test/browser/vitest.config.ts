import { defineConfig } from 'vitest/config'

/** The dashboard in a real Chromium, over the built command. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 90_000,
    hookTimeout: 90_000,
    expect: { requireAssertions: true },
    globalSetup: [
      'test/kit/own-temporary-folder.ts',
      'test/kit/fresh-bundle.ts',
      'test/browser/kit/install-chromium.ts',
    ],
    // Pictures per second are measured: no two tabs are drawn at once.
    fileParallelism: false,
  },
})
