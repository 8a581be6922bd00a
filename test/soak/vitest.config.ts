import { defineConfig } from 'vitest/config'

/** Kills and long runs; minutes each. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/soak/**/*.test.ts'],
    testTimeout: 1_800_000,
    fileParallelism: false,
  },
})
