import { defineConfig } from 'vitest/config'
import { LANES, MEASURED_LANE } from './lanes.js'
import { REAL_PEER_TIMEOUT } from './limits.js'

/** Real peers. A project is a lane: its files run one after another. `run.ts` runs the projects side by side. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    // Five lanes share two processors, and computers differ in speed by two.
    testTimeout: 600_000,
    hookTimeout: 1_800_000,
    // A condition is waited for as long as a peer is: a second, as without this, is a wish on a busy computer.
    expect: { poll: { timeout: REAL_PEER_TIMEOUT } },
    setupFiles: ['test/kit/equal-bytes.ts'],
    fileParallelism: false,
    reporters: ['default', './test/kit/slowest-files.ts'],
    projects: [...LANES, MEASURED_LANE].map((name) => ({
      extends: true as const,
      test: { name, include: [`test/real/${name}/**/*.test.ts`] },
    })),
  },
})
