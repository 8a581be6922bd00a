import { defineConfig } from 'vitest/config'

/** Tests of which other suites run a part of the random cases. */
const SAMPLED = [
  ...['kill', 'order.properties', 'react.properties'].map((name) => `ironic-mock/conductor/core/${name}.test.ts`),
  'apps/hardware-lab/rehearsal/rehearsal.test.ts',
  'lab/state/state-files.test.ts',
  'test/scenarios/snapshots/*.test.ts',
  'test/real/database/{kills,same-stores}.test.ts',
]

/** Kills and long runs; minutes each. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/soak/**/*.test.ts', ...SAMPLED],
    provide: { soak: true },
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
})
