import { defineConfig } from 'vitest/config'
import { LANES, TARGETS } from './lanes.js'

const inRealFolder = (files: readonly string[]): string[] => files.map((file) => `test/real/${file}`)

/** Real peers. A project is a lane: its files run one after another. `run.ts` runs the projects side by side. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    testTimeout: 300_000,
    hookTimeout: 1_800_000,
    setupFiles: ['test/kit/equal-bytes.ts'],
    fileParallelism: false,
    reporters: ['default', './test/kit/slowest-files.ts'],
    projects: [
      ...Object.entries(LANES).map(([name, files]) => ({
        extends: true as const,
        test: { name, include: inRealFolder(files) },
      })),
      {
        extends: true as const,
        test: {
          name: TARGETS,
          include: ['test/real/**/*.test.ts'],
          exclude: inRealFolder(Object.values(LANES).flat()),
        },
      },
    ],
  },
})
