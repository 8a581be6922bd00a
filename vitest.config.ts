import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules', 'dist', 'test/real', 'test/soak'],
    testTimeout: 20_000,
    setupFiles: ['test/kit/steady-properties.ts'],
    sequence: { shuffle: true },
    // Nothing is kept in modules, so test files may share them; that halves the time of the suite.
    isolate: false,
    maxWorkers: '100%',
  },
})
