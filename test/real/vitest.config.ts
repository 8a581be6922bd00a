import { defineConfig } from 'vitest/config'

/** Real peers, one file after another: they share disks of this host and cores. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/real/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 1_800_000,
    fileParallelism: false,
  },
})
