import type { Reporter, TestModule } from 'vitest/node'

/** How many files are named. */
const NAMED = 12

/** A reporter that ends a run with the files that took longest, their set-up included. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => {
      const { collectDuration, duration, setupDuration } = module.diagnostic()
      return { name: module.relativeModuleId, seconds: (collectDuration + duration + setupDuration) / 1000 }
    })
    if (files.length < 2) return
    const lines = files
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, NAMED)
      .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}`)
    process.stdout.write(`\nslowest files:\n${lines.join('\n')}\n`)
  }
}
