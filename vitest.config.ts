import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules', 'dist', 'test/real', 'test/soak', 'test/browser'],
    // Tests are for what is right, not for how fast this computer is at the moment.
    testTimeout: 60_000,
    expect: { requireAssertions: true },
    reporters: ['default', './test/kit/slowest-files.ts'],
    globalSetup: ['test/kit/own-temporary-folder.ts', 'test/kit/fresh-bundle.ts'],
    // Many short-lived objects: in a larger nursery most are gone before they are looked at.
    execArgv: ['--max-semi-space-size=64'],
    setupFiles: ['test/kit/compile-less.ts', 'test/kit/steady-properties.ts', 'test/kit/equal-bytes.ts'],
    // Files go largest first, so that none that is long begins when the others have ended.
    sequence: { shuffle: { tests: true, files: false } },
    // Modules hold no state, so test files may share them; that halves the time of the suite.
    isolate: false,
    // A third of the time is waiting for sockets and processes, so one file more than there are processors runs at a time.
    maxWorkers: availableParallelism() + 1,
    // Concurrent tests mostly wait for servers that are slow on purpose.
    maxConcurrency: 20,
    // Packages are imported as Node does it, without a proxy around each.
    deps: { interopDefault: false },
    // Compiled sources are kept in node_modules between runs.
    experimental: { fsModuleCache: true },
  },
})
